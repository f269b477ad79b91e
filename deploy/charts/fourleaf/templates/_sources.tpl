{{/*
The manifests under files/ are the plain ones of deploy/, which name kube-system, the default
namespace of the agent, and the default names of schedulers and GPU resources. Here they are made
those of this release. In JSON there is one way to write each of these.
*/}}
{{- define "fourleaf.source" -}}
{{- $root := .root -}}
{{- $namespace := $root.Release.Namespace -}}
{{- $agent := $root.Values.agent.namespace -}}
{{- range $text := regexSplit "(?m)^---$" ($root.Files.Get .path) -1 -}}
{{- $body := fromYaml $text | toJson
  | replace "\"namespace\":\"kube-system\"" (printf "\"namespace\":%q" $namespace)
  | replace "\"namespace\":\"fourleaf-agent\"" (printf "\"namespace\":%q" $agent)
  | replace "\"kubernetes.io/metadata.name\":\"kube-system\"" (printf "\"kubernetes.io/metadata.name\":%q" $namespace)
  | replace "\"values\":[\"kube-system\"]" (printf "\"values\":%s" (list "kube-system" $namespace | uniq | sortAlpha | toJson))
  | replace "system:serviceaccount:kube-system:fourleaf-" (printf "system:serviceaccount:%s:fourleaf-" $namespace)
  | replace "system:serviceaccount:fourleaf-agent:" (printf "system:serviceaccount:%s:" $agent)
-}}
{{- with $root.Values.config.schedulerNames -}}
{{- $body = $body | replace "['topology-aware-scheduler', 'gpu-scheduler']" (include "fourleaf.cel" .) -}}
{{- end -}}
{{- with $root.Values.config.gpuResources -}}
{{- $body = $body | replace "['nvidia.com/gpu', 'amd.com/gpu']" (include "fourleaf.cel" .) -}}
{{- $known := list "nvidia.com/gpu" "amd.com/gpu" -}}
{{- $body = $body | replace (include "fourleaf.asked" $known) (include "fourleaf.asked" .) -}}
{{- end -}}
{{- $paths := list "/dev/infiniband" "/dev/shm" "/dev/hugepages" "/mnt" "/data" "/scratch" -}}
{{- $body = $body | replace (include "fourleaf.cel" $paths) (include "fourleaf.cel" $root.Values.policies.hostPaths) -}}
{{- $body = fromJson $body -}}
{{- if and (eq $body.kind "ClusterRole") (has $body.metadata.name (list "fourleaf-scheduler" "fourleaf-dashboard")) -}}
{{- range $root.Values.config.ownerKinds -}}
{{- $rule := dict "apiGroups" (list .group) "resources" (list .resource) "verbs" (list "list" "watch") -}}
{{- $_ := set $body "rules" (append $body.rules $rule) -}}
{{- end -}}
{{- end -}}
{{- $everywhere := eq $root.Values.policies.refuseBindings "allNamespaces" -}}
{{- if and $everywhere (eq $body.kind "ValidatingAdmissionPolicyBinding") (eq $body.metadata.name "fourleaf-pod-bindings") -}}
{{- $_ := unset $body.spec "matchResources" -}}
{{- end -}}
{{- $own := eq $root.Values.webhook.certificates "selfSigned" -}}
{{- if and (eq $body.metadata.name "fourleaf-webhook") (hasKey $body "rules") (not $own) -}}
{{- /* Certificates of another origin: neither the Secret nor the bundles are the webhook's. */ -}}
{{- $rules := list -}}
{{- range $body.rules -}}
{{- if not (or (has "secrets" .resources) (has "admissionregistration.k8s.io" .apiGroups)) -}}
{{- $rules = append $rules . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $body "rules" $rules -}}
{{- end -}}
{{- $skipped := or (and (eq $body.kind "Namespace") (not $root.Values.agent.createNamespace))
  (and (eq $body.kind "Secret") (not $own)) -}}
{{- if not $skipped -}}
{{- if eq $body.kind "Namespace" }}{{ $_ := set $body.metadata "name" $agent }}{{ end -}}
{{- $labels := include "fourleaf.labels" (dict "root" $root) | fromYaml -}}
{{- $_ := set $body.metadata "labels" (merge ($body.metadata.labels | default dict) $labels) -}}
{{- if eq $body.kind "ServiceAccount" -}}
{{- with (index $root.Values (trimPrefix "fourleaf-" $body.metadata.name)).serviceAccountAnnotations -}}
{{- $_ := set $body.metadata "annotations" . -}}
{{- end -}}
{{- end -}}
{{- with $.annotations -}}
{{- $_ := set $body.metadata "annotations" (merge . ($body.metadata.annotations | default dict)) -}}
{{- end -}}
{{- with $.bundle -}}
{{- range $body.webhooks }}{{ $_ := set .clientConfig "caBundle" $.bundle }}{{ end -}}
{{- end }}
---
{{ toYaml $body }}
{{- end }}
{{- end }}
{{- end }}

{{/* A list of names as CEL writes it. */}}
{{- define "fourleaf.cel" -}}
[{{ range $index, $name := . }}{{ if $index }}, {{ end }}'{{ $name }}'{{ end }}]
{{- end }}

{{/* How the webhook asks whether a container wants one of these resources, as JSON has it. */}}
{{- define "fourleaf.asked" -}}
{{- range $index, $name := . -}}
{{- if $index }} || {{ end -}}
('{{ $name }}' in c.?resources.?limits.orValue({})) || ('{{ $name }}' in c.?resources.?requests.orValue({}))
{{- end -}}
{{- end }}
