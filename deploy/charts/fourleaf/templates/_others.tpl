{{/*
Service accounts of the cluster that may bind pods and are neither of this release nor named in
policies.otherSchedulers, as NAMESPACE/NAME. Accounts that may do everything are left out: they can
change the policy too. So are Kubernetes' own controllers, of which one has a right to bind that it
no longer uses. Nothing where the cluster is not asked, as by `helm template`.
*/}}
{{- define "fourleaf.otherSchedulers" -}}
{{- $rbac := "rbac.authorization.k8s.io/v1" -}}
{{- $roles := dict -}}
{{- range (lookup $rbac "ClusterRole" "" "").items -}}
{{- $role := .metadata.name -}}
{{- range .rules -}}
{{- $bind := or (has "pods/binding" .resources) (has "bindings" .resources) (has "*/binding" .resources) -}}
{{- if and $bind (not (hasPrefix "system:controller:" $role)) (or (has "create" .verbs) (has "*" .verbs)) }}{{ $_ := set $roles $role true }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $known := append .Values.policies.otherSchedulers (printf "%s/fourleaf-scheduler" .Release.Namespace) -}}
{{- $found := list -}}
{{- range (lookup $rbac "ClusterRoleBinding" "" "").items -}}
{{- if hasKey $roles .roleRef.name -}}
{{- range .subjects -}}
{{- if eq .kind "ServiceAccount" -}}
{{- $found = append $found (printf "%s/%s" .namespace .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $found | uniq | sortAlpha -}}
{{- if not (has . $known) }}{{ . }} {{ end -}}
{{- end -}}
{{- end }}

{{/* Nodes that tell of GPUs and have none of the labels by which agents find them, blanks between. */}}
{{- define "fourleaf.nodesWithoutAgent" -}}
{{- range (lookup "v1" "Node" "" "").items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- $gpus := false -}}
{{- range $name, $amount := .status.capacity -}}
{{- if and (regexMatch "^(nvidia|amd)\\.com/(gpu|mig-)" $name) (ne (toString $amount) "0") }}{{ $gpus = true }}{{ end -}}
{{- end -}}
{{- $found := empty $.Values.agent.nodeLabels -}}
{{- range $.Values.agent.nodeLabels }}{{ if hasKey $labels . }}{{ $found = true }}{{ end }}{{ end -}}
{{- if and $gpus (not $found) }}{{ .metadata.name }} {{ end -}}
{{- end -}}
{{- end }}
