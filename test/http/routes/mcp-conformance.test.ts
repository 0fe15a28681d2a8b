import t from 'tap'
import { keyProxy } from '../../support/conformance/key-proxy.ts'
import { applies, appliesInPart, doesNotApply } from '../../support/conformance/reasons.ts'
import { checkServer } from '../../support/conformance/run.ts'
import { startChat } from '../../support/server.ts'

t.setTimeout(300_000)

for (const version of ['2025-11-25', '2026-07-28'])
  t.test(`the protocol's own tests of servers, for ${version}`, async (t) => {
    const text = 'This is a simple text response for testing.'
    const { server, organization, provider, key } = await startChat(t, { text })
    const agent = (name: string, more: object = {}) => organization.agent({ name, ...more })
    const sub_agents = [await agent('One'), await agent('Two')]
    const chain = { agent_type: 'SEQUENTIAL_AGENT', sub_agents }
    const agentIds = {
      test_simple_text: await agent('test_simple_text'),
      test_error_handling: await agent('test_error_handling'),
      test_tool_with_progress: await agent('test_tool_with_progress', chain),
      test_streaming_elicitation: await agent('test_streaming_elicitation'),
      test_logging_tool: await agent('test_logging_tool'),
    }
    const url = await keyProxy(t, server, key, agentIds, (tool) => {
      if (tool === 'test_error_handling') provider.next({ status: 401 })
    })
    const { results, output } = await checkServer(t, url, version)
    const passed = (status: string) => status === 'SUCCESS' || status === 'INFO'

    const left = results.filter(({ status }) => !passed(status))
    const unexplained = left.filter(({ check }) => !doesNotApply.some(([is]) => is.test(check)))
    if (unexplained.length > 0) t.comment(output)
    t.strictSame(unexplained, [], 'what applies passes')
    for (const { check, why } of left) {
      const reason = doesNotApply.find(([is]) => is.test(check))?.[1]
      t.comment(`${check} does not apply: ${reason} (${why.slice(0, 80)})`)
    }

    for (const scenario of applies[version] ?? []) {
      const checks = results.filter(({ check }) => check.startsWith(`${scenario}/`))
      t.ok(checks.length > 0 && checks.every(({ status }) => passed(status)), scenario)
    }
    const successes = new Set(
      results.flatMap(({ check, status }) => (status === 'SUCCESS' ? [check] : [])),
    )
    for (const check of appliesInPart[version] ?? []) t.ok(successes.has(check), check)

    const wire = results.filter(({ check }) => check.endsWith('/wire-schema-valid'))
    t.ok(wire.length > 10 && wire.every(({ status }) => status === 'SUCCESS'), 'fits the schema')
  })
