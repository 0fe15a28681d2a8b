import { writeChart } from './chart.ts'
import type { Package } from './office-package.ts'
import { writePart } from './office-text.ts'
import type { TextFlow } from './text-flow.ts'

/** Writes a chart or SmartArt graphic of a part; `read` has those that are written already. */
export const graphicsOf =
  (files: Package, part: string, flow: TextFlow, read: Set<string>) =>
  (id: string): void => {
    const relation = files.relationsOf(part).find((one) => one.id === id)
    const bytes = files.part(relation?.target)
    if (!relation || !bytes || read.has(relation.target)) return
    read.add(relation.target)
    if (relation.kind === 'chart') writeChart(bytes, flow)
    if (relation.kind === 'diagramData') writePart(bytes, flow)
  }
