{{/* What no schema can say: values that do not go together. */}}
{{- define "fourleaf.checks" -}}
{{- with .Values.agent -}}
{{- if and .enabled .createNamespace (eq .namespace $.Release.Namespace) -}}
{{- fail (printf "agent.namespace: %q is the namespace of the release, which would be made privileged.\nAdvice: Give the agent a namespace of its own." .namespace) -}}
{{- end -}}
{{- end -}}
{{- with include "fourleaf.otherSchedulers" . | trim -}}
{{- if and $.Values.policies.enabled (eq $.Values.policies.refuseBindings "allNamespaces") -}}
{{- fail (printf "policies.refuseBindings: allNamespaces would stop %s, which bind pods here.\nAdvice: Name them in policies.otherSchedulers, or refuse Bindings in enforcedNamespaces alone." .) -}}
{{- end -}}
{{- end -}}
{{- $terms := concat (list "resourceAvailability" "topologyAlignment" "domainUtilization" "historicalPerformance") .Values.extraTerms -}}
{{- range $name, $_ := .Values.config.scoringWeights -}}
{{- if not (has $name $terms) -}}
{{- fail (printf "config.scoringWeights.%s: is a weight for a term that does not exist.\nAdvice: Use %s, or name a term that the image brings in extraTerms." $name (join ", " $terms)) -}}
{{- end -}}
{{- end -}}
{{- end }}
