import { execFile, spawnSync } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { contents } from '../support/client.ts'
import { parallelAgents } from '../support/parallel-agents.ts'
import type { Reply } from '../support/provider-double.ts'
import { newFolder, startApp, startChat } from '../support/server.ts'

t.setTimeout(900_000)

const sdk = spawnSync('dotnet', ['--version'], { encoding: 'utf8' })
const absent = sdk.status === 0 ? {} : { skip: 'no dotnet here' }
/** Programs are built for the SDK that is there. */
const framework = `net${String(sdk.stdout).split('.', 1)[0]}.0`

type Packages = Readonly<Record<string, string>>

const openai: Packages = { OpenAI: '2.15.0' }
const clients: Readonly<Record<string, Packages>> = {
  OpenAI: openai,
  ExtensionsAI: {
    'Microsoft.Extensions.AI': '10.11.0',
    'Microsoft.Extensions.AI.OpenAI': '10.11.0',
  },
  SemanticKernel: { 'Microsoft.SemanticKernel.Connectors.OpenAI': '1.82.0' },
  AgentFramework: {
    'Microsoft.Agents.AI': '1.28.0',
    'Microsoft.Extensions.AI.OpenAI': '10.11.0',
  },
  Betalgo: { ...openai, 'Betalgo.Ranul.OpenAI': '9.2.6' },
}
const names = Object.keys(clients)

const projectOf = (packages: Packages) => `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>${framework}</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <Nullable>enable</Nullable>
    <NoWarn>$(NoWarn);OPENAI001;MEAI001;SKEXP0001;SKEXP0010</NoWarn>
  </PropertyGroup>
  <ItemGroup>
${Object.entries(packages)
  .map(([name, version]) => `    <PackageReference Include="${name}" Version="[${version}]" />`)
  .join('\n')}
  </ItemGroup>
</Project>
`

type StepResult = { name: string; text: string; error: string }
type Target = { url: string; key: string; model?: string }

const run = promisify(execFile)

/** Builds a program of this folder in a folder of its own, once; then runs steps of it. */
const program = async (t: Test, name: string, packages: Packages) => {
  const folder = await newFolder(t)
  await writeFile(join(folder, 'Client.csproj'), projectOf(packages))
  await cp('test/dotnet/Common.cs', join(folder, 'Common.cs'))
  await cp(`test/dotnet/${name}.cs`, join(folder, 'Program.cs'))
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' }
  const out = join(folder, 'out')
  await run('dotnet', ['build', folder, '-o', out, '--nologo', '-v', 'quiet'], { env })
  return async (at: Target, ...steps: string[]): Promise<StepResult[]> => {
    const more = {
      REPRISE_URL: at.url,
      REPRISE_API_KEY: at.key,
      REPRISE_MODEL: at.model ?? 'svc-orchestrator',
    }
    const options = { env: { ...env, ...more } }
    const { stdout } = await run('dotnet', [join(out, 'Client.dll'), ...steps], options)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
}

const text = 'Hello from the double.'
const broken: Reply = { text: 'Half an answer', cutAfter: 2 }

for (const name of names)
  t.test(
    `${name}: whole and streamed answers, goodbyes, failures and branches`,
    absent,
    async (t) => {
      const ask = await program(t, name, clients[name] ?? {})

      await t.test('an answer, whole and streamed', async (t) => {
        const { server, key, provider } = await startChat(t, { text })
        t.strictSame(await ask({ url: server.url, key: key.key }, 'whole', 'streamed'), [
          { name: 'whole', text, error: '' },
          { name: 'streamed', text, error: '' },
        ])
        t.equal(provider.requests.length, 2, 'nothing was asked for twice')
      })

      await t.test('a goodbye to a client that offers tools costs one turn', async (t) => {
        const { server, key, provider } = await startChat(t, { text: 'Goodbye!' })
        const [result] = await ask({ url: server.url, key: key.key }, 'tools')
        t.match(result, { text: /^stop: Goodbye!$/i, error: '' })
        t.equal(provider.requests.length, 1)
      })

      // Betalgo does not say that it is of .NET.
      const unnamed = name === 'Betalgo' ? { skip: 'it sends no User-Agent' } : {}
      await t.test('a stream that fails raises an error', unnamed, async (t) => {
        const { server, key } = await startChat(t, broken)
        const [result] = await ask({ url: server.url, key: key.key }, 'failing')
        t.not(result?.error, '')
      })

      await t.test('parallel branches come one after another', async (t) => {
        const server = await startApp(t)
        const organization = await server.platform.organization({ credits: 100 })
        const key = await organization.key()
        const model = await parallelAgents(organization)
        const [result] = await ask({ url: server.url, key: key.key, model }, 'streamed')
        const { body } = await key.sessions()
        const [, stored] = await contents(key, body.sessions[0].session_id)
        t.equal(result?.text, stored)
      })
    },
  )

t.test('ModelContextProtocol: agents are listed and called', absent, async (t) => {
  const packages = { ...openai, ModelContextProtocol: '2.4.0' }
  const ask = await program(t, 'ModelContext', packages)
  const { server, key, organization } = await startChat(t, { text })
  await organization.agent({ name: 'Helper' })
  t.match(await ask({ url: server.url, key: key.key }, 'list', 'call'), [
    { name: 'list', text: /helper/i, error: '' },
    { name: 'call', text, error: '' },
  ])
})
