import type { Measured } from './measured.ts'

/** Where a section may write, and whether what it measures is profiled too. */
export type Place = { dir: string; profile: string | undefined }

export type Section = (place: Place) => Promise<Measured[]>
