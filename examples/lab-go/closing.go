// Package closing closes issues.
package closing

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client asks the API at an address.
type Client struct{ URL, Token string }

// Issue is what is read of one.
type Issue struct {
	IID   int
	Title string
	State string
}

// Call asks the API, and reads the answer into a value; it fails with what the API says.
func (c Client) Call(method, path, body string, answer any) error {
	request, err := http.NewRequest(method, c.URL+"/api/v4"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Private-Token", c.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: %s %s", method, path, response.Status, text)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// CloseIssues closes the open issues with a label, and returns their numbers.
func (c Client) CloseIssues(project, label string) (closed []int, err error) {
	issues := "/projects/" + url.PathEscape(project) + "/issues"
	query := url.Values{"state": {"opened"}, "labels": {label}, "per_page": {"100"}}
	var found []Issue
	if err := c.Call("GET", issues+"?"+query.Encode(), "", &found); err != nil {
		return nil, err
	}
	for _, issue := range found {
		var after Issue
		if err := c.Call("PUT", fmt.Sprint(issues, "/", issue.IID), `{"state_event":"close"}`, &after); err != nil {
			return closed, err
		}
		closed = append(closed, after.IID)
	}
	return closed, nil
}
