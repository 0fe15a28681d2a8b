import {
  concat,
  EMPTY,
  lastValueFrom,
  type Observable,
  of,
  Subject,
  throwError,
  toArray,
} from 'rxjs'
import t from 'tap'
import { withCircuit } from '../../../src/adapters/models/circuit.ts'
import { withFallback } from '../../../src/adapters/models/fallback.ts'
import { modelsFrom } from '../../../src/adapters/models/registry.ts'
import {
  type ContentKind,
  ContextTooLong,
  type Model,
  type ModelEvent,
  ModelFault,
  ModelMisconfigured,
  ModelUnavailable,
  type ResolvedModel,
} from '../../../src/ports/model.ts'
import { modelOf } from '../../support/provider-chunks.ts'
import { providerDouble, type Reply } from '../../support/provider-double.ts'

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
const usage = { promptTokens: 1, completionTokens: 1 }
const done: ModelEvent = { type: 'done', finishReason: 'stop', usage }
const down = () => throwError(() => new ModelUnavailable('down'))
const wrong = () => throwError(() => new ModelFault('wrong'))

const ask = (model: Model) => lastValueFrom(model.stream(request).pipe(toArray()))

const answering = (answers: (() => Observable<ModelEvent>)[]) => {
  let calls = 0
  const model: Model = { stream: () => answers[Math.min(calls++, answers.length - 1)]?.() ?? EMPTY }
  return { model, calls: () => calls }
}

t.test('a provider that keeps failing is left alone, then tried by one call', async (t) => {
  let time = 0
  const trial = new Subject<ModelEvent>()
  const { model, calls } = answering([down, down, () => trial, () => of(done)])
  const guarded = withCircuit(model, { failures: 2, openMs: 100, now: () => time })
  await t.rejects(ask(guarded), ModelUnavailable)
  await t.rejects(ask(guarded), ModelUnavailable)
  await t.rejects(ask(guarded), /keeps failing/)
  t.equal(calls(), 2, 'not asked while open')
  time = 100
  const tried = ask(guarded)
  await t.rejects(ask(guarded), /keeps failing/, 'only one call tries')
  trial.next(done)
  trial.complete()
  t.strictSame(await tried, [done])
  t.strictSame(await ask(guarded), [done])
  t.equal(calls(), 4)
})

t.test('a trial that fails opens it again; a wrong request never does', async (t) => {
  let time = 0
  const { model, calls } = answering([down, down, wrong])
  const guarded = withCircuit(model, { failures: 1, openMs: 100, now: () => time })
  await t.rejects(ask(guarded), ModelUnavailable)
  time = 100
  await t.rejects(ask(guarded), ModelUnavailable)
  time = 150
  await t.rejects(ask(guarded), /keeps failing/)
  time = 200
  await t.rejects(ask(guarded), ModelFault)
  await t.rejects(ask(guarded), ModelFault)
  t.equal(calls(), 4)
})

t.test('a trial that the provider refuses closes it, until the next failure', async (t) => {
  for (const refused of [
    new ContextTooLong('too long'),
    new ModelMisconfigured('no such model'),
    new ModelUnavailable('too many', { isBusy: true }),
  ]) {
    let time = 0
    const waiting = new Subject<ModelEvent>()
    const refusing = () => throwError(() => refused)
    const { model, calls } = answering([down, down, refusing, () => waiting, () => of(done), down])
    const guarded = withCircuit(model, { failures: 2, openMs: 100, now: () => time })
    await t.rejects(ask(guarded), ModelUnavailable)
    await t.rejects(ask(guarded), ModelUnavailable)
    time = 100
    await t.rejects(ask(guarded), refused)
    const first = guarded.stream(request).subscribe({ error: () => undefined })
    t.strictSame(await ask(guarded), [done], 'calls are side by side again')
    first.unsubscribe()
    t.equal(calls(), 5)
  }
  let time = 0
  const refusing = () => throwError(() => new ContextTooLong('too long'))
  const { model } = answering([down, down, refusing, down, () => of(done)])
  const guarded = withCircuit(model, { failures: 2, openMs: 100, now: () => time })
  for (const at of [0, 0, 100, 100]) {
    time = at
    await t.rejects(ask(guarded))
  }
  await t.rejects(ask(guarded), /keeps failing/, 'one failure opens it again')
})

t.test('fallbacks are asked in order, before anything is said', async (t) => {
  const price = { prompt: 1, completion: 2 }
  const named = (
    name: string,
    model: Model,
    takes: readonly ContentKind[] = [],
  ): ResolvedModel => ({
    model,
    name,
    id: name,
    price,
    takes: new Set(takes),
  })
  const first = answering([down])
  const text: ModelEvent = { type: 'text', text: 'Hello' }
  const second = answering([() => of(text, done)])
  const model = withFallback(named('a', first.model), [named('b', second.model)])
  t.strictSame(await ask(model), [text, { ...done, by: { name: 'b', price } }])

  const third = answering([() => of(text, done)])
  const fallback = withFallback(named('a', answering([down]).model, ['image']), [
    named('b', second.model),
    named('c', third.model, ['image']),
  ])
  const facts = { mediaType: 'image/png', bytes: 1, at: 0, read: async function* () {} }
  const seen = { role: 'user' as const, content: '', parts: [{ kind: 'image' as const, ...facts }] }
  const answer = fallback.stream({ model: 'a', messages: [seen] })
  t.match(
    await lastValueFrom(answer),
    { by: { name: 'c' } },
    'one that takes no images is passed over',
  )

  const cut = answering([() => concat(of(text), down())])
  await t.rejects(
    ask(withFallback(named('a', cut.model), [named('b', second.model)])),
    ModelUnavailable,
    'not after output',
  )
  const bad = answering([wrong])
  await t.rejects(ask(withFallback(named('a', bad.model), [named('b', second.model)])), ModelFault)
})

t.test('several providers by name, and the configured order of fallbacks', async (t) => {
  const up = await providerDouble()
  t.teardown(up.close)
  const models = modelsFrom({
    baseUrl: 'http://127.0.0.1:1/v1',
    model: 'main/large',
    providers: [{ name: 'spare', baseUrl: up.url, apiKey: 'k' }],
    fallbacks: ['spare/small'],
    transport: { retries: 0 },
  })
  t.teardown(models.close)
  const { model, id, name } = models.resolve(null)
  t.equal(name, 'main/large')
  const events = await lastValueFrom(model.stream({ ...request, model: id }).pipe(toArray()))
  t.match(events.at(-1), { type: 'done', by: { name: 'spare/small' } })
  t.equal(up.requests[0]?.body.model, 'small')
  t.throws(() => modelsFrom({ fallbacks: ['nobody/x'] }), ModelMisconfigured)
})

t.test('failures of requests leave the circuit closed', async (t) => {
  const calls: Record<
    string,
    { reply?: Reply; kind: typeof ModelFault | typeof ModelUnavailable }
  > = {
    'a conversation that is too long, in the stream': {
      reply: { raw: 'data: {"error":{"code":"context_length_exceeded","message":"x"}}\n\n' },
      kind: ContextTooLong,
    },
    'a conversation that is too long, as a failure': {
      reply: { status: 500, raw: '{"error":{"message":"Context size has been exceeded."}}' },
      kind: ContextTooLong,
    },
    'too many requests': { reply: { status: 429 }, kind: ModelUnavailable },
    'a call that nobody can read': {
      reply: {
        raw: 'data: {"choices":[{"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}\n\n',
      },
      kind: ModelFault,
    },
    'a part that cannot be read': { kind: ModelFault },
  }
  for (const [what, { reply, kind }] of Object.entries(calls))
    t.test(what, async (t) => {
      const { model } = await modelOf(t, Array(15).fill(reply ?? {}), { retries: 0 })
      const guarded = withCircuit(model)
      const read = async function* () {
        yield Buffer.from('a')
        throw new Error('the disk is gone')
      }
      const part = { kind: 'image' as const, mediaType: 'image/png', bytes: 3, at: 0, read }
      const broken = {
        model: 'm',
        messages: [{ role: 'user' as const, content: '', parts: [part] }],
      }
      for (let n = 0; n < 6; n++) {
        const events = guarded.stream(reply ? request : broken).pipe(toArray())
        const error = await lastValueFrom(events).catch((error) => error)
        t.ok(error instanceof kind, `${error}`)
        t.notMatch(error, { message: /keeps failing|the disk is gone/ })
      }
    })
})
