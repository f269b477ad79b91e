{{- define "check.labels" -}}
app.kubernetes.io/name: gpu-scheduler-check
app.kubernetes.io/part-of: fourleaf
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "check.pod" -}}
metadata:
  labels: {{ include "check.labels" . | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  schedulerName: {{ .Values.scheduler.name }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
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
  containers:
    - name: check
      {{- with .Values.image }}
      image: {{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
      imagePullPolicy: {{ .pullPolicy }}
      {{- end }}
      env:
        - name: NODE_NAME
          valueFrom:
            fieldRef: {fieldPath: spec.nodeName}
        - name: POD_NAME
          valueFrom:
            fieldRef: {fieldPath: metadata.name}
        # What it should see: its map, and what the scheduler wrote.
        - name: DEVICE_MAP
          valueFrom:
            fieldRef: {fieldPath: "metadata.annotations['gpu-scheduling-map']"}
        - name: GRANTED_DEVICES
          valueFrom:
            fieldRef: {fieldPath: "metadata.annotations['alloc.gpu.scheduling/devices']"}
        - {name: CHECK_INTERVAL, value: {{ .Values.intervalSeconds | quote }}}
      ports:
        - {name: http, containerPort: 8080}
      readinessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 5
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 20
      resources: {{ toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
{{- end }}
