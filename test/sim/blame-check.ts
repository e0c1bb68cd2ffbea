import { encodeMatch } from '../../chain/contracts/calldata.js'
import { executePayload } from '../../executor/payload.js'
import { AT, setBalance, copyForMatch, type ChainState } from './chain-state.js'
import type { SimulatedChain } from './chain.js'
import { readMatch, tryMatch } from './contracts.js'
import type { HttpAnswer } from './host.js'

/** What the executor says of guilt, held against the blocks that it may have looked at. */
export interface BlameCheck {
  /** Looks at an answer to `POST /execute`. */
  readonly judge: (body: string, answer: HttpAnswer) => void
}

const RICH = 10n ** 30n
/** Of gas the contracts here know nothing, and of two contracts that sign neither is known to be the liar. */
const SOLVENCY: ReadonlySet<string> = new Set([
  'WERC_CannotBeNegative',
  'SRM_NoNegativeCash',
  'SRM_PortfolioBelowMargin',
  'BM_AccountUnderLiquidation',
  'BLF_DataTooOld',
])
const SIDES = ['taker', 'maker'] as const

/** I-25: an order is blamed only if the chain would have refused it whatever the other side of the match had. */
export function createBlameCheck(
  chain: SimulatedChain,
  onFinding: (what: string, detail: unknown) => void,
): BlameCheck {
  return {
    judge(body, { text }) {
      const { guilty, revert } = JSON.parse(text) as { guilty?: string; revert?: string }
      if (guilty === undefined || revert === undefined || !SOLVENCY.has(revert)) return
      const { match } = executePayload.parse(JSON.parse(body))
      const data = encodeMatch(match)
      for (const side of SIDES) {
        if (guilty !== side && guilty !== 'both') continue
        const isGuilty = chain
          .recent()
          .some(({ state, timestampSec }) => fails(state, { data, side, timestampSec }))
        if (!isGuilty) onFinding(`I-25 ${guilty} blamed for ${revert}`, match.actions)
      }
    },
  }
}

interface Question {
  readonly data: `0x${string}`
  readonly side: (typeof SIDES)[number]
  readonly timestampSec: number
}

/** Whether the match fails although its other side has all that one can have. */
function fails(state: ChainState, { data, side, timestampSec }: Question): boolean {
  const { actions } = readMatch(data)
  const [judged, other] = side === 'taker' ? actions : [actions[1], actions[0]]
  if (judged === undefined || other === undefined) return true
  const eased: ChainState = {
    ...copyForMatch(state),
    given: new Map(),
    wallets: new Map(state.wallets),
    auctions: new Set([...state.auctions].filter((account) => account !== other.subaccountId)),
    paused: new Set(),
    rights: new Map(),
  }
  for (const asset of [AT.cngn, AT.usdc, AT.cash]) {
    setBalance(eased, other.subaccountId, asset, RICH)
  }
  if (eased.wallets.has(other.owner) && other.owner !== judged.owner) {
    eased.wallets.set(other.owner, true)
  }
  eased.rights.set(`${AT.matching} ${AT.batchExecutor}`, true)
  return tryMatch(eased, { from: AT.batchExecutor, data, timestampSec }).revert !== undefined
}
