import { writeChart } from './chart.ts'
import type { Package } from './office-package.ts'
import { writePart } from './office-text.ts'
import type { TextFlow } from './text-flow.ts'

/** Writes the charts and SmartArt graphics of a part, but those among `writtenParts`. */
export const graphicsOf = (
  files: Package,
  part: string,
  flow: TextFlow,
  writtenParts: Set<string>,
): ((id: string) => void) => {
  const relations = new Map(files.relationsOf(part).map((relation) => [relation.id, relation]))
  return (id) => {
    const relation = relations.get(id)
    const bytes = files.part(relation?.target)
    if (!relation || !bytes || writtenParts.has(relation.target)) return
    writtenParts.add(relation.target)
    if (relation.kind.startsWith('chart')) writeChart(bytes, flow)
    if (relation.kind === 'diagramData') writePart(bytes, flow)
  }
}
