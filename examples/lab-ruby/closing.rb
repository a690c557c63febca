require 'json'
require 'net/http'

# Asks the API; fails with what it says.
def call_api(url, token, method, path, body = nil)
  headers = { 'private-token' => token, 'content-type' => 'application/json' }
  address = URI("#{url}/api/v4#{path}")
  answer = Net::HTTP.start(address.host, address.port) do |http|
    http.send_request(method, address.request_uri, body&.to_json, headers)
  end
  raise "#{method} #{path}: #{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPSuccess)

  JSON.parse(answer.body)
end

# Closes the open issues with a label; returns their numbers.
def close_issues(url, token, project, label)
  issues = "/projects/#{URI.encode_www_form_component(project)}/issues"
  query = URI.encode_www_form(state: 'opened', labels: label, per_page: 100)
  call_api(url, token, 'GET', "#{issues}?#{query}").map do |issue|
    call_api(url, token, 'PUT', "#{issues}/#{issue['iid']}", { state_event: 'close' })['iid']
  end
end
