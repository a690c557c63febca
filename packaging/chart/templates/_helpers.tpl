{{- define "ashlar.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ashlar.labels" -}}
{{ include "ashlar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ashlar.name" -}}
{{ printf "%s-ashlar" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
