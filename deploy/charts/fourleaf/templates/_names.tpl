{{/* Of every object; `root`, and `component` where it belongs to one. */}}
{{- define "fourleaf.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{ include "fourleaf.commonLabels" . }}
{{- end }}

{{/* Of pods, without the version of the chart: a change of the chart alone replaces none. */}}
{{- define "fourleaf.podLabels" -}}
{{ include "fourleaf.commonLabels" . }}
{{- range $name, $value := .values.podLabels }}
{{ $name }}: {{ quote $value }}
{{- end }}
{{- end }}

{{- define "fourleaf.commonLabels" -}}
app.kubernetes.io/name: {{ .name | default "fourleaf" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fourleaf
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- range $name, $value := .root.Values.commonLabels }}
{{ $name }}: {{ quote $value }}
{{- end }}
{{- end }}

{{- define "fourleaf.selector" -}}
app.kubernetes.io/part-of: fourleaf
app.kubernetes.io/component: {{ . }}
{{- end }}

{{/* The image of scheduler and dashboard; `root`, and `values` of a component with one of its own. */}}
{{- define "fourleaf.image" -}}
{{- $image := .root.Values.image -}}
{{- with .values.image | default $image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ $image.tag | default $.root.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "fourleaf.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:fourleaf-scheduler
{{- end }}
