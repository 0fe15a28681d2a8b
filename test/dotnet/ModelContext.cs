using ModelContextProtocol.Client;
using ModelContextProtocol.Protocol;

var transport = new HttpClientTransport(new HttpClientTransportOptions
{
    Endpoint = new Uri($"{At.Url}/api/external/mcp"),
    AdditionalHeaders = new Dictionary<string, string> { ["Authorization"] = $"Bearer {At.Key}" },
});
await using var client = await McpClient.CreateAsync(transport);

await At.Run(args, async name =>
{
    var tools = await client.ListToolsAsync();
    if (name == "list")
        return string.Join(' ', tools.Select(tool => tool.Name));
    var asked = new Dictionary<string, object?> { ["message"] = "What do you know of tea?" };
    var result = await client.CallToolAsync(tools.First().Name, asked);
    return result.Content.OfType<TextContentBlock>().First().Text;
});
