import { observeLane, type LaneFacts } from '../../chain/lane/observe-lane.js'

/** Facts that note their names, in order. */
export function factsTo(told: string[]): LaneFacts {
  const silent = (): undefined => undefined
  const quiet = observeLane({ debug: silent, info: silent, warn: silent, error: silent }, 'intent')
  const names = Object.keys(quiet)
  const facts: Partial<LaneFacts> = Object.fromEntries(
    names.map((name) => [name, () => void told.push(name)]),
  )
  return facts as LaneFacts
}
