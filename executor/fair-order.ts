/** What decides when a match is served. */
export interface FairnessKey {
  /** Names the owner who causes the match. */
  readonly owner: string
  /** Whether its fee pays less than its gas costs. */
  readonly isDust: boolean
  readonly accountIds: readonly bigint[]
}

/** How many matches are served at once. */
export interface GroupRoom {
  readonly most: number
  /** Of these, the most that are dust. */
  readonly mostDust: number
}

interface ServedGroup<Match> {
  /** In the order in which they are to be settled. */
  readonly group: readonly Match[]
  /** Whether there was no room for a match that pays for its gas. */
  readonly moreWait: boolean
}

/** Serves matches by turns of their owners. */
export interface FairOrder<Match> {
  /**
   * The next matches of those that wait, which stand in the order of their arrival. Each owner has as many as any other, as
   * far as it waits; a new owner joins at the turn of the one that is furthest, so that a stream of new owners never
   * starves one that waits. Matches that share an account keep their order, but one that pays for its gas may
   * pass dust. Dust stands between the others, the first after at most four.
   */
  next(waiting: readonly Match[], room: GroupRoom): ServedGroup<Match>
  /** They were settled: their owners have had a turn for each. */
  served(matches: readonly Match[]): void
}

/** After how many that pay there is one of dust, and how many are in front of the first. */
const DUST_EVERY = 9
const IN_FRONT_OF_DUST = 4

/** Pure but for what it remembers: the turns of the owners that wait. */
export function createFairOrder<Match>(of: (match: Match) => FairnessKey): FairOrder<Match> {
  const turns = { paying: new Map<string, number>(), dust: new Map<string, number>() }

  return {
    next(waiting, { most, mostDust }) {
      const lines = linesOf(waiting, of)
      const paying = createClass(lines, turns.paying, false)
      const dust = createClass(lines, turns.dust, true)
      const group: Match[] = []
      let dusty = 0
      let paid = 0
      const takeDust = (): boolean => {
        const match = dusty < mostDust && group.length < most ? dust.take() : undefined
        if (match === undefined) return false
        group.push(match)
        dusty += 1
        return true
      }
      while (group.length < most) {
        if (paid >= IN_FRONT_OF_DUST + DUST_EVERY * dusty && takeDust()) continue
        const match = paying.take()
        if (match === undefined) break
        group.push(match)
        paid += 1
      }
      while (takeDust());
      return { group, moreWait: paying.hasMore() }
    },
    served(matches) {
      for (const { owner, isDust } of matches.map(of)) {
        const counted = isDust ? turns.dust : turns.paying
        const turn = counted.get(owner)
        if (turn !== undefined) counted.set(owner, turn + 1)
      }
    },
  }
}

interface Place<Match> extends FairnessKey {
  readonly match: Match
  taken: boolean
}

/** The matches of one account, oldest first; those before the marks are taken. */
interface AccountLine<Match> {
  readonly places: Place<Match>[]
  /** Where the first one may be that is not taken, and the first that is not taken and no dust. */
  first: number
  firstPaying: number
}

interface Lines<Match> {
  readonly places: readonly Place<Match>[]
  /** Whether no match that it may not pass stands before it on any of its accounts. */
  readonly isFree: (place: Place<Match>) => boolean
}

function linesOf<Match>(
  waiting: readonly Match[],
  of: (match: Match) => FairnessKey,
): Lines<Match> {
  const byAccount = new Map<bigint, AccountLine<Match>>()
  const places = waiting.map((match) => ({ ...of(match), match, taken: false }))
  for (const place of places) {
    for (const id of place.accountIds) {
      const line = byAccount.get(id)
      if (line === undefined) byAccount.set(id, { places: [place], first: 0, firstPaying: 0 })
      else line.places.push(place)
    }
  }
  const isFirst = (place: Place<Match>, id: bigint): boolean => {
    const line = byAccount.get(id)
    if (line === undefined) return true
    while (line.places[line.first]?.taken === true) line.first += 1
    if (place.isDust) return line.places[line.first] === place
    for (; ; line.firstPaying += 1) {
      const at = line.places[line.firstPaying]
      if (at === undefined || !(at.taken || at.isDust)) return at === place
    }
  }
  return { places, isFree: (place) => place.accountIds.every((id) => isFirst(place, id)) }
}

interface OwnerLine<Match> {
  places: readonly Place<Match>[]
  turn: number
}

/** Those that pay for their gas, or dust, by turns of their owners. Forgets the turns of owners that do not wait. */
function createClass<Match>(
  { places, isFree }: Lines<Match>,
  turns: Map<string, number>,
  isDust: boolean,
) {
  const byOwner = new Map<string, Place<Match>[]>()
  for (const place of places) {
    if (place.isDust !== isDust) continue
    const own = byOwner.get(place.owner)
    if (own === undefined) byOwner.set(place.owner, [place])
    else own.push(place)
  }
  for (const owner of turns.keys()) if (!byOwner.has(owner)) turns.delete(owner)
  const furthest = Math.max(0, ...turns.values())
  for (const owner of byOwner.keys()) if (!turns.has(owner)) turns.set(owner, furthest)
  /** By turn; of one turn, the owner whose match has waited longest. */
  const lines: OwnerLine<Match>[] = [...byOwner]
    .map(([owner, own]) => ({ places: own, turn: turns.get(owner) ?? furthest }))
    .sort((a, b) => a.turn - b.turn)

  /** The first match that is free, of the owner whose turn it is; of several that of the oldest line. */
  function find(): { line: OwnerLine<Match>; place: Place<Match> } | undefined {
    for (const line of lines) {
      const place = line.places.find((one) => isFree(one))
      if (place !== undefined) return { line, place }
    }
    return undefined
  }

  return {
    take(): Match | undefined {
      const found = find()
      if (found === undefined) return undefined
      const { line, place } = found
      place.taken = true
      line.turn += 1
      line.places = line.places.filter((one) => one !== place)
      const at = lines.indexOf(line)
      const behind = lines.findIndex(({ turn }, i) => i > at && turn > line.turn)
      lines.splice(behind === -1 ? lines.length : behind, 0, line)
      lines.splice(at, 1)
      return place.match
    },
    hasMore: (): boolean => find() !== undefined,
  }
}
