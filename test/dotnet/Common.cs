using System.ClientModel;
using System.Text.Json;
using OpenAI;

/// <summary>The server that a program talks to, and what it tells the test.</summary>
static class At
{
    public static readonly string Url = Environment.GetEnvironmentVariable("REPRISE_URL")!;
    public static readonly string Key = Environment.GetEnvironmentVariable("REPRISE_API_KEY")!;
    public static readonly string Model = Environment.GetEnvironmentVariable("REPRISE_MODEL")!;

    public static ApiKeyCredential Credential => new(Key);
    public static OpenAIClientOptions Options => new() { Endpoint = new Uri($"{Url}/api/external/v1") };

    /// <summary>Runs the steps that are named, and prints the text or the error of each as a line of JSON.</summary>
    public static async Task Run(string[] steps, Func<string, Task<string>> step)
    {
        foreach (var name in steps)
        {
            string text = "", error = "";
            try { text = await step(name); }
            catch (Exception raised) { error = raised.GetType().Name; }
            Console.WriteLine(JsonSerializer.Serialize(new { name, text, error }));
        }
    }
}
