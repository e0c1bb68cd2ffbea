import { LauncherError } from './wait-for.js'

const MOST_PROCESSES = 64
/** The line whose program starts the matchers of the markets. */
const MATCHERS = 'matchers'

/** Markets that have matchers. */
export interface MatcherMarkets {
  readonly markets: readonly string[]
  /** Those, among others, that get a process of their own. */
  readonly own: readonly string[]
}

/** One process of a Procfile. */
export interface ProcfileEntry {
  readonly name: string
  /** Passed to `sh -c` unchanged. */
  readonly command: string
}

/**
 * Reads `name: command` lines in order; blank lines and lines that begin with # are skipped. The line `matchers`
 * becomes one entry for each market that gets a process of its own, such as `matcher-cngn-usdc`, with MARKET set: the launcher itself
 * supervises, logs and lists it. The others are run by one entry of the line's own name. Throws LauncherError with the line's number for a wrong line, for a name that comes twice, and
 * for an empty list.
 */
export function parseProcfile(text: string, markets: MatcherMarkets): ProcfileEntry[] {
  const entries: ProcfileEntry[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, command] = /^([A-Za-z0-9][A-Za-z0-9_-]*)\s*:\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || command === undefined)
      throw new LauncherError(`Procfile line ${index + 1} is not "name: command": ${line}`)
    const listed = { name, command }
    for (const entry of name === MATCHERS ? matchersOf(listed, markets) : [listed]) {
      if (entries.some((other) => other.name === entry.name))
        throw new LauncherError(`Procfile line ${index + 1} names ${entry.name} a second time`)
      entries.push(entry)
    }
  }
  if (entries.length === 0) throw new LauncherError('the Procfile names no process')
  if (entries.length > MOST_PROCESSES)
    throw new LauncherError(`the Procfile names more than ${MOST_PROCESSES} processes`)
  return entries
}

function matchersOf(line: ProcfileEntry, { markets, own }: MatcherMarkets): ProcfileEntry[] {
  const alone = markets.filter((market) => own.includes(market))
  const others = alone.length < markets.length ? [othersOf(line, own)] : []
  return [...alone.map((market) => matcherOf(line, market)), ...others]
}

const matcherOf = ({ command }: ProcfileEntry, market: string): ProcfileEntry => ({
  name: `matcher-${market.toLowerCase()}`,
  command: withSetting(command, `MARKET=${market}`),
})

const othersOf = ({ name, command }: ProcfileEntry, own: readonly string[]): ProcfileEntry => ({
  name,
  command: withSetting(command, `MARKETS_ELSEWHERE=${own.join(',')}`),
})

const withSetting = (command: string, setting: string): string =>
  command.replace(/^(exec )?/, `$1env ${setting} `)
