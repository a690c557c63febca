require 'minitest/autorun'
require_relative 'closing'

seed = File.expand_path('../demo.yml', __dir__)
lab = IO.popen([*ENV.fetch('ASHLAR_COMMAND', 'npx ashlar lab').split, '--seed', seed], 'r+')
INSTANCE = JSON.parse(lab.gets || abort('the lab did not start: its errors are above'))
# Closes the lab's standard input too, and waits for it.
Minitest.after_run { lab.close }

class ClosingTest < Minitest::Test
  URL, TOKEN = INSTANCE.values_at('url', 'token')

  def setup
    ask_lab('reset')
  end

  def test_closes_what_has_the_label
    assert_equal [1], close_issues(URL, TOKEN, 'root/demo', 'stale')
    assert_equal({ 'Old' => 'closed', 'New' => 'opened' }, states)
  end

  def test_tells_of_a_refusal
    ask_lab('faults', { method: 'PUT', route: '/projects/:id/issues/:issue_iid', status: 503 })
    error = assert_raises(RuntimeError) { close_issues(URL, TOKEN, 'root/demo', 'stale') }
    assert_includes error.message, '503'
    assert_equal({ 'Old' => 'opened', 'New' => 'opened' }, states)
  end

  private

  def states
    call_api(URL, TOKEN, 'GET', '/projects/1/issues').to_h { |issue| issue.values_at('title', 'state') }
  end

  def ask_lab(path, body = {})
    answer = Net::HTTP.post(URI("#{URL}/-/lab/#{path}"), body.to_json)
    assert_kind_of Net::HTTPSuccess, answer, answer.body
  end
end
