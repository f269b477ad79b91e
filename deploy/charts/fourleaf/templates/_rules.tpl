{{/*
The alerts about what is on here, which link to where the documents can be read. Of one replica
alone nobody expects another to stand by.
*/}}
{{- define "fourleaf.rules" -}}
{{- $base := .Values.monitoring.runbookBase | trimSuffix "/" -}}
{{- $groups := list -}}
{{- range $group := (.Files.Get "files/monitoring/alerts.yaml" | fromYaml).groups -}}
{{- if dig "enabled" true (index $.Values ($group.name | trimPrefix "fourleaf-")) -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- if not (and (eq $rule.alert "FourleafNoStandby") (lt (int $.Values.scheduler.replicas) 2)) -}}
{{- with $base }}{{ $_ := set $rule.annotations "runbook_url" (printf "%s/%s" . $rule.annotations.runbook_url) }}{{ end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- $groups = append $groups (set $group "rules" $rules) -}}
{{- end -}}
{{- end -}}
{{ dict "groups" $groups | toYaml }}
{{- end }}
