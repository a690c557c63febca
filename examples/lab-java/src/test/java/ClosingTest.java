import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClosingTest {
  private static Process lab;
  private static Client client;

  @BeforeAll
  static void start() throws IOException {
    var command = System.getenv().getOrDefault("ASHLAR_COMMAND", "npx ashlar lab");
    var parts = new ArrayList<>(List.of(command.split(" ")));
    parts.addAll(List.of("--seed", "../demo.yml"));
    lab = new ProcessBuilder(parts).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var line = lab.inputReader().readLine();
    if (line == null) throw new IOException("the lab did not start: its errors are above");
    var described = new ObjectMapper().readTree(line);
    client = new Client(described.get("url").asText(), described.get("token").asText());
  }

  @AfterAll
  static void end() throws IOException, InterruptedException {
    if (lab == null) return;
    lab.getOutputStream().close();
    lab.waitFor();
  }

  @BeforeEach
  void reset() throws IOException, InterruptedException {
    askLab("/reset", "");
  }

  @Test
  void closesWhatHasTheLabel() throws IOException, InterruptedException {
    assertEquals(List.of(1), client.closeIssues("root/demo", "stale"));
    assertEquals(Map.of("Old", "closed", "New", "opened"), states());
  }

  @Test
  void tellsOfARefusal() throws IOException, InterruptedException {
    askLab("/faults", "{\"method\": \"PUT\", \"route\": \"/projects/:id/issues/:issue_iid\", \"status\": 503}");
    var error = assertThrows(IOException.class, () -> client.closeIssues("root/demo", "stale"));
    assertTrue(error.getMessage().contains("503"), error.getMessage());
    assertEquals(Map.of("Old", "opened", "New", "opened"), states());
  }

  private static Map<String, String> states() throws IOException, InterruptedException {
    var states = new TreeMap<String, String>();
    for (var issue : client.call("GET", "/projects/1/issues", ""))
      states.put(issue.get("title").asText(), issue.get("state").asText());
    return states;
  }

  private static void askLab(String path, String body) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(client.url() + "/-/lab" + path)).POST(BodyPublishers.ofString(body));
    var answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() >= 300) throw new IOException(path + ": " + answer.statusCode() + " " + answer.body());
  }
}
