#!/bin/sh
# What release-cli sends when it creates a release in a job; its values have no line breaks here.
set -eu
test "$1" = create
shift

text() { printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"; }

ref=$CI_COMMIT_SHA
fields= milestones= links=
while [ $# -gt 0 ]; do
  case $1 in
  --name | --description | --tag-name | --tag-message | --released-at)
    name=$(printf '%s' "${1#--}" | tr - _)
    fields="$fields\"$name\":$(text "$2"),"
    ;;
  --ref) ref=$2 ;;
  --milestone) milestones="${milestones:+$milestones,}$(text "$2")" ;;
  --assets-link) links="${links:+$links,}$2" ;;
  *) echo "unknown flag $1" >&2 && exit 2 ;;
  esac
  shift 2
done

printf '{"id":"%s",%s"ref":%s,"milestones":[%s],"assets":{"links":[%s]}}' \
  "$CI_PROJECT_ID" "$fields" "$(text "$ref")" "$milestones" "$links" |
  curl --silent --show-error --fail-with-body --header "JOB-TOKEN: $CI_JOB_TOKEN" \
    --header 'Content-Type: application/json' --header 'User-Agent: GitLab-release-cli' \
    --data-binary @- "$CI_SERVER_URL/api/v4/projects/$CI_PROJECT_ID/releases"
