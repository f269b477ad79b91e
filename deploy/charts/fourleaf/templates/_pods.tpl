{{/* What all pods have in common, but for the agent's, which sees the host. */}}
{{- define "fourleaf.restricted" -}}
automountServiceAccountToken: true
enableServiceLinks: false
securityContext:
  {{- include "fourleaf.nobody" . | nindent 2 }}
{{- end }}

{{- define "fourleaf.nobody" -}}
runAsNonRoot: true
{{- range $key, $value := .Values.podSecurityContext }}
{{- if kindIs "float64" $value }}
{{ $key }}: {{ int64 $value }}
{{- else if $value }}
{{ $key }}: {{ toJson $value }}
{{- end }}
{{- end }}
{{- if not .Values.podSecurityContext.seccompProfile }}
seccompProfile: {type: RuntimeDefault}
{{- end }}
{{- end }}

{{- define "fourleaf.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where pods go: `root`, `component` and `values`, those of the component. */}}
{{- define "fourleaf.where" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ quote . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "fourleaf.spread" -}}
topologySpreadConstraints:
{{- with .values.topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "fourleaf.selector" .component | nindent 8 }}
{{- end }}
{{- end }}

{{/* Probes, on a port of their own: kubelets reach it, and other clients cannot crowd it. */}}
{{- define "fourleaf.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: probes}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: probes}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: probes}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- define "fourleaf.annotations" -}}
{{- with .podAnnotations }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "fourleaf.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: fourleaf-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{ include "fourleaf.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  # A replica that is not ready is no reason to keep a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{ include "fourleaf.selector" .component | nindent 6 }}
{{- end }}
