import { observeSender, type SenderObserver } from '../../chain/sender/observe-sender.js'

/** Facts that note their names, in order. */
export function factsTo(told: string[]): SenderObserver {
  const silent = (): undefined => undefined
  const quiet = observeSender(
    { debug: silent, info: silent, warn: silent, error: silent },
    'intent',
  )
  const names = Object.keys(quiet)
  const facts: Partial<SenderObserver> = Object.fromEntries(
    names.map((name) => [name, () => void told.push(name)]),
  )
  return facts as SenderObserver
}
