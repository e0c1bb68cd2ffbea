import { batch, signal, type ReadonlySignal } from '@preact/signals'
import { wordsOf } from '../../client/words-of.js'

/** A history that is read page by page, newest first. */
export interface Pages<Item> {
  /** Undefined before the first page. */
  readonly items: ReadonlySignal<readonly Item[] | undefined>
  readonly hasOlder: ReadonlySignal<boolean>
  /** Why the last read brought nothing; undefined where it did. */
  readonly trouble: ReadonlySignal<string | undefined>
  /** Reads the newest page: what came before stays where it joins. */
  readNewest(): Promise<void>
  readOlder(): Promise<void>
}

export interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly next: string | undefined
}

/** So many items are kept: the interface has more of the past. */
const KEPT = 2_000

/** `read` reads a page that ends before a mark, and `keyOf` names an item. */
export function createPages<Item>(
  read: (before: string | undefined) => Promise<PageOf<Item>>,
  keyOf: (item: Item) => unknown,
): Pages<Item> {
  const items = signal<readonly Item[] | undefined>(undefined)
  const hasOlder = signal(false)
  const trouble = signal<string | undefined>(undefined)
  let next: string | undefined
  const attempt = async (
    before: string | undefined,
    take: (page: PageOf<Item>) => void,
  ): Promise<void> => {
    try {
      const page = await read(before)
      batch(() => {
        take(page)
        trouble.value = undefined
        hasOlder.value = next !== undefined && (items.value?.length ?? 0) < KEPT
      })
    } catch (error) {
      trouble.value = wordsOf(error)
    }
  }
  return {
    items,
    hasOlder,
    trouble,
    readNewest: () =>
      attempt(undefined, (page) => {
        const keys = new Set(page.items.map(keyOf))
        const before = items.value ?? []
        const joins = before.length > 0 && keys.has(keyOf(before[0] as Item))
        items.value = [
          ...page.items,
          ...(joins ? before.filter((one) => !keys.has(keyOf(one))) : []),
        ]
        if (!joins) next = page.next
      }),
    async readOlder() {
      const from = next
      if (from === undefined) return
      await attempt(from, (page) => {
        if (next !== from) return
        items.value = [...(items.value ?? []), ...page.items]
        next = page.next
      })
    },
  }
}
