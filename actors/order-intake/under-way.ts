import type { Address } from '../../core/action.js'
import { asJsonObject } from '../../core/json.js'

/** Decides a request by its body; the rest is what else it came with. */
type Decide<Rest extends readonly unknown[], Decided> = (
  body: unknown,
  ...rest: Rest
) => Promise<Decided>

/** Placements that are being decided, by what a cancel names; as many as there are requests in flight. */
export function createUnderWay() {
  const deciding = new Map<string, Promise<unknown>>()
  /** The same decision, which is known to be under way until it is made. */
  const during =
    <Rest extends readonly unknown[], Decided>(
      decide: Decide<Rest, Decided>,
    ): Decide<Rest, Decided> =>
    async (body, ...rest) => {
      const { owner_address, nonce } = asJsonObject(body) ?? {}
      const decided = decide(body, ...rest)
      if (typeof owner_address !== 'string' || typeof nonce !== 'string') return decided
      const key = `${owner_address.toLowerCase()} ${nonce}`
      deciding.set(key, decided)
      try {
        return await decided
      } finally {
        if (deciding.get(key) === decided) deciding.delete(key)
      }
    }
  /** Settles when the order with this nonce is in a log or refused; undefined when none is on its way. */
  const underWay = (owner: Address, nonce: bigint): Promise<unknown> | undefined =>
    deciding.get(`${owner} ${nonce}`)
  return { during, underWay }
}
