import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The API at an address, with somebody's token. */
record Client(String url, String token) {
  private static final HttpClient http = HttpClient.newHttpClient();

  /** Asks the API; fails with what it says. */
  JsonNode call(String method, String path, String body) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url + "/api/v4" + path))
        .header("private-token", token)
        .header("content-type", "application/json")
        .method(method, BodyPublishers.ofString(body))
        .build();
    var answer = http.send(request, BodyHandlers.ofString());
    if (answer.statusCode() >= 300)
      throw new IOException(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
    return new ObjectMapper().readTree(answer.body());
  }

  /** Closes the open issues with a label; returns their numbers. */
  List<Integer> closeIssues(String project, String label) throws IOException, InterruptedException {
    var issues = "/projects/" + URLEncoder.encode(project, UTF_8) + "/issues";
    var query = "?state=opened&per_page=100&labels=" + URLEncoder.encode(label, UTF_8);
    var closed = new ArrayList<Integer>();
    for (var issue : call("GET", issues + query, ""))
      closed.add(call("PUT", issues + "/" + issue.get("iid"), "{\"state_event\":\"close\"}").get("iid").asInt());
    return closed;
  }
}
