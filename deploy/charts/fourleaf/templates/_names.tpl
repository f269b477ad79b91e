{{- define "fourleaf.labels" -}}
app.kubernetes.io/part-of: fourleaf
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "fourleaf.selector" -}}
app.kubernetes.io/part-of: fourleaf
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "fourleaf.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "fourleaf.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:fourleaf-scheduler
{{- end }}
