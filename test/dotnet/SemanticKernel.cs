using System.Text;
using Microsoft.SemanticKernel;
using Microsoft.SemanticKernel.ChatCompletion;
using Microsoft.SemanticKernel.Connectors.OpenAI;
using OpenAI;

var kernel = Kernel.CreateBuilder()
    .AddOpenAIChatCompletion(At.Model, new OpenAIClient(At.Credential, At.Options))
    .Build();
kernel.Plugins.AddFromFunctions("Weather", [KernelFunctionFactory.CreateFromMethod(() => "18 degrees", "lookup")]);
var chat = kernel.GetRequiredService<IChatCompletionService>();
var auto = new OpenAIPromptExecutionSettings { FunctionChoiceBehavior = FunctionChoiceBehavior.Auto() };

await At.Run(args, async name =>
{
    var history = new ChatHistory();
    history.AddUserMessage("What do you know of tea and of coffee?");
    if (name == "whole")
        return (await chat.GetChatMessageContentAsync(history)).Content ?? "";
    if (name == "tools")
    {
        var answer = await chat.GetChatMessageContentAsync(history, auto, kernel);
        return $"{answer.Metadata?["FinishReason"]}: {answer.Content}";
    }
    var said = new StringBuilder();
    await foreach (var piece in chat.GetStreamingChatMessageContentsAsync(history))
        said.Append(piece.Content);
    return said.ToString();
});
