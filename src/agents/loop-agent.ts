import { defer, of } from 'rxjs'
import type { AgentKind } from './agent-kind.ts'
import { inBranchOrder } from './branch-order.ts'
import { someBelow } from './hand-over.ts'
import { phrasePattern } from './phrases.ts'
import { waited } from './suspended.ts'
import type { Tool } from './tool.ts'

const defaultIterations = 3

const exitTool = (exit: () => void): Tool => ({
  spec: {
    name: 'exit_loop',
    description: 'Ends the loop you work in, once its goal is reached.',
    parameters: { type: 'object', properties: {} },
  },
  local: true,
  run: () => {
    exit()
    return of({ ok: true, content: 'The loop ends.' })
  },
})

/**
 * Its sub-agents in order, over and over: until one says the exit condition (as whole words) or
 * calls `exit_loop`, else `maxIterations` times.
 */
export const loopAgent: AgentKind = (agent, step, runtime) =>
  defer(() => {
    const below = someBelow(agent, step)
    const times = agent.maxIterations ?? defaultIterations
    const exitPhrase = agent.exitCondition?.trim()
      ? phrasePattern([agent.exitCondition])
      : undefined
    let exited = waited(step.resume, 'order')?.left ?? false
    const exitLoop = exitTool(() => {
      exited = true
    })
    const runs = Array.from({ length: times }, () => below).flat()
    return inBranchOrder(
      agent,
      runs,
      { ...step, exitLoop },
      runtime,
      ({ text }) => exited || exitPhrase?.test(text) === true,
      () => exited,
    )
  })
