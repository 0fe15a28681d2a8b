import { adminPart } from './admin.ts'
import { auditPart } from './audit.ts'
import { consolePart } from './console.ts'
import type { Parts } from './parts.ts'
import { provisioningPart } from './provisioning.ts'
import type { TurnEngine } from './turn-engine.ts'

/** The routes of administrators, operators and auditors. */
export const administration = (parts: Parts, engine: TurnEngine) => ({
  provisioning: provisioningPart(parts, engine),
  admin: adminPart(parts, engine),
  audit: auditPart(parts),
  consoleRoutes: consolePart(parts),
})

export type Administration = ReturnType<typeof administration>
