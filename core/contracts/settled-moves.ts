import { REORG_BLOCKS, SETTLED_BLOCKS_MAX } from '../model/limits.js'

/**
 * What the settlements of single blocks moved on an account, ascending by block. An observation of an earlier block does
 * not show them.
 */
export interface SettledMove {
  readonly blockNumber: bigint
}

/** One move a block, ascending; beyond the bound the oldest two become one, which counts as long as the later did. */
export function addMove<Move extends SettledMove>(
  moves: Move[],
  move: Move,
  sum: (later: Move, earlier: Move) => Move,
): void {
  const at = moves.findLastIndex(({ blockNumber }) => blockNumber <= move.blockNumber)
  const same = moves[at]
  if (same?.blockNumber === move.blockNumber) moves[at] = sum(move, same)
  else moves.splice(at + 1, 0, move)
  if (moves.length <= SETTLED_BLOCKS_MAX) return
  const [first, second] = moves
  if (first !== undefined && second !== undefined) moves.splice(0, 2, sum(second, first))
}

/** Drops moves that every later observation shows, however far the chain is reorganised. */
export function forgetMoves(moves: SettledMove[], observedBlock: bigint): void {
  const unsure = moves.findIndex(({ blockNumber }) => blockNumber + REORG_BLOCKS > observedBlock)
  if (unsure !== 0) moves.splice(0, unsure === -1 ? moves.length : unsure)
}
