import { z } from 'zod'
import type { PaymentNotice } from '../agents/tool.ts'
import { isTooComplex } from '../support/json-text.ts'
import type { Redact } from './redaction.ts'

const text = z.string().max(2_000)
const amount = z.union([text, z.number().transform(String)])

/** One way to pay: version 1 says `maxAmountRequired`, version 2 `amount`. */
const way = z.object({
  network: text,
  maxAmountRequired: amount.optional(),
  amount: amount.optional(),
  description: text.optional().catch(undefined),
  nonce: text.optional().catch(undefined),
  extra: z
    .object({ nonce: text.optional().catch(undefined) })
    .nullish()
    .catch(undefined),
})

const requirements = z.object({
  x402Version: z.number().optional(),
  accepts: z.array(z.unknown()).max(50),
  error: text.optional().catch(undefined),
})

/** Of a whole answer. */
const mostJson = { depth: 32, nodes: 2_000 }

const parsed = (json: string) => {
  try {
    return isTooComplex(json, mostJson) ? undefined : requirements.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

const headerNames = ['payment-required', 'x-payment-required'] as const

/** Reads plain JSON, or JSON in base64 (version 2). */
const inHeaders = (headers: Headers) => {
  for (const name of headerNames) {
    const value = headers.get(name)
    if (!value) continue
    const payment = parsed(value) ?? parsed(Buffer.from(value, 'base64').toString())
    if (payment) return payment
  }
  return undefined
}

/**
 * The x402 payment that a 402 answer asks for: the first way to pay that names a network and an
 * amount (in the asset's smallest unit). `nonce` is the server's, or a new one. `clean` removes
 * secrets from the server's words.
 */
export const paymentIn = (
  headers: Headers,
  body: string,
  newNonce: () => string,
  clean: Redact,
): PaymentNotice | undefined => {
  const required = parsed(body) ?? inHeaders(headers)
  for (const offer of required?.accepts ?? []) {
    const { data } = way.safeParse(offer)
    const total = data?.maxAmountRequired ?? data?.amount
    if (!data || total === undefined) continue
    return {
      message: clean(required?.error || data.description || 'Payment is required'),
      nonce: clean(data.nonce ?? data.extra?.nonce ?? newNonce()),
      network: clean(data.network),
      total_amount: clean(total),
    }
  }
  return undefined
}
