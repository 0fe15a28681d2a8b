import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'

const validMs = 7 * 24 * 60 * 60 * 1000

type Options = { key: KeyObject; clock: Clock }

/** Links that prove themselves: their subject, their expiry and a signature over both. */
export const signedLinks = ({ key, clock }: Options) => {
  const sign = (purpose: string, id: string, expires: number): string =>
    createHmac('sha256', key).update(`${purpose}\n${id}\n${expires}`).digest('base64url')

  return {
    /** The query of a link that is valid for a week. */
    queryFor(purpose: string, id: string): string {
      const expires = Math.floor((clock.now().getTime() + validMs) / 1000)
      return `expires=${expires}&signature=${sign(purpose, id, expires)}`
    },
    isValid(purpose: string, id: string, expires: number, signature: string): boolean {
      if (expires * 1000 < clock.now().getTime()) return false
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(purpose, id, expires))]
      return given.length === right.length && timingSafeEqual(given, right)
    },
  }
}
export type SignedLinks = ReturnType<typeof signedLinks>
