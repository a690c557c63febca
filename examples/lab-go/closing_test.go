package closing

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// client is root's, of the lab.
var client Client

func TestMain(m *testing.M) {
	code, err := withLab(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the lab did not start:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withLab(run func() int) (code int, err error) {
	command := strings.Fields(os.Getenv("ASHLAR_COMMAND"))
	if len(command) == 0 {
		command = []string{"npx", "ashlar", "lab"}
	}
	lab := exec.Command(command[0], append(command[1:], "--seed", "../demo.yml")...)
	lab.Stderr = os.Stderr
	input, err := lab.StdinPipe()
	if err != nil {
		return 0, err
	}
	output, err := lab.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := lab.Start(); err != nil {
		return 0, err
	}
	// Wait closes its standard output, and the lab ends when its standard input closes.
	defer lab.Wait()
	defer input.Close()
	if err := json.NewDecoder(output).Decode(&client); err != nil {
		return 0, err
	}
	return run(), nil
}

func askLab(t *testing.T, path, body string) {
	t.Helper()
	response, err := http.Post(client.URL+"/-/lab"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatal(path, response.Status)
	}
}

func expectStates(t *testing.T, expected map[string]string) {
	t.Helper()
	var issues []Issue
	if err := client.Call("GET", "/projects/1/issues", "", &issues); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, issue := range issues {
		states[issue.Title] = issue.State
	}
	if !reflect.DeepEqual(states, expected) {
		t.Fatal(states)
	}
}

func TestClosesWhatHasTheLabel(t *testing.T) {
	askLab(t, "/reset", "")
	closed, err := client.CloseIssues("root/demo", "stale")
	if err != nil || !reflect.DeepEqual(closed, []int{1}) {
		t.Fatal(closed, err)
	}
	expectStates(t, map[string]string{"Old": "closed", "New": "opened"})
}

func TestTellsOfARefusal(t *testing.T) {
	askLab(t, "/reset", "")
	askLab(t, "/faults", `{"method": "PUT", "route": "/projects/:id/issues/:issue_iid", "status": 503}`)
	if _, err := client.CloseIssues("root/demo", "stale"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatal(err)
	}
	expectStates(t, map[string]string{"Old": "opened", "New": "opened"})
}
