import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { messageOf } from '../../api/problem.ts'
import { postForm } from '../../api/upload.ts'

/** A file on its way to the server, or one that it refused. */
export type Transfer = {
  id: number
  name: string
  size: number
  /** From 0 to 1. */
  progress: number
  error: string | undefined
}

const atOnce = 2

/**
 * Uploads files to a DataStore, two at a time, each in a request of its own so that one refusal
 * leaves the others alone. A file that has arrived leaves the list.
 */
export const useUploader = (datastoreId: string) => {
  const client = useQueryClient()
  const [transfers, setTransfers] = useState<readonly Transfer[]>([])
  const waiting = useRef<{ id: number; file: File }[]>([])
  const active = useRef(0)
  const lastId = useRef(0)

  const change = (id: number, part: Partial<Transfer>) =>
    setTransfers((all) =>
      all.map((transfer) => (transfer.id === id ? { ...transfer, ...part } : transfer)),
    )
  const remove = (id: number) => setTransfers((all) => all.filter((transfer) => transfer.id !== id))

  const upload = async (id: number, file: File) => {
    const form = new FormData()
    form.append('datastore_id', datastoreId)
    form.append('files', file)
    try {
      await postForm('/api/external/rag/upload', form, (sent, total) =>
        change(id, { progress: total > 0 ? sent / total : 1 }),
      )
      await client.invalidateQueries({ queryKey: ['uploads', datastoreId] })
      void client.invalidateQueries({ queryKey: ['datastores'] })
      remove(id)
    } catch (error) {
      change(id, { error: messageOf(error) })
    }
  }

  const startNext = () => {
    const next = active.current < atOnce ? waiting.current.shift() : undefined
    if (!next) return
    active.current += 1
    void upload(next.id, next.file).finally(() => {
      active.current -= 1
      startNext()
    })
    startNext()
  }

  const add = (files: readonly File[]) => {
    const added = files.map((file) => {
      lastId.current += 1
      return { id: lastId.current, file }
    })
    waiting.current.push(...added)
    setTransfers((all) => [
      ...all,
      ...added.map(({ id, file: { name, size } }) => ({
        id,
        name,
        size,
        progress: 0,
        error: undefined,
      })),
    ])
    startNext()
  }

  return { transfers, add, remove }
}
