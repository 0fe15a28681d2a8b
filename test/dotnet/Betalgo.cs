using System.Text;
using Betalgo.Ranul.OpenAI;
using Betalgo.Ranul.OpenAI.Managers;
using Betalgo.Ranul.OpenAI.ObjectModels.RequestModels;

var http = new HttpClient(new UnderOurPath { InnerHandler = new HttpClientHandler() });
var service = new OpenAIService(new OpenAIOptions { ApiKey = At.Key, BaseDomain = At.Url }, http);

await At.Run(args, async name =>
{
    var asked = new ChatCompletionCreateRequest
    {
        Model = At.Model,
        Messages = [ChatMessage.FromUser("What do you know of tea and of coffee?")],
    };
    if (name == "tools")
        asked.Tools = [ToolDefinition.DefineFunction(new FunctionDefinition { Name = "lookup" })];
    if (name != "streamed" && name != "failing")
    {
        var answer = await service.ChatCompletion.CreateCompletion(asked);
        var choice = answer.Choices.First();
        return name == "tools" ? $"{choice.FinishReason}: {choice.Message.Content}" : choice.Message.Content!;
    }
    var said = new StringBuilder();
    await foreach (var answer in service.ChatCompletion.CreateCompletionAsStream(asked))
    {
        if (!answer.Successful) throw new InvalidOperationException(answer.Error?.Message);
        said.Append(answer.Choices.FirstOrDefault()?.Message?.Content);
    }
    return said.ToString();
});

/// <summary>The package asks below the root of its host.</summary>
sealed class UnderOurPath : DelegatingHandler
{
    protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellation)
    {
        var path = request.RequestUri!.AbsolutePath;
        if (!path.StartsWith("/api/external/"))
            request.RequestUri = new Uri($"{At.Url}/api/external{path}");
        return base.SendAsync(request, cancellation);
    }
}
