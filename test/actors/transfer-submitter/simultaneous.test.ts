import { expect } from 'chai'
import {
  createJudge,
  createLimits,
  type JudgeDeps,
} from '../../../actors/transfer-submitter/judge.js'
import type { CarriedOut } from '../../../actors/transfer-submitter/carry-out.js'
import type { RecordBook } from '../../../actors/transfer-submitter/records.js'
import type { SignedTransfer } from '../../../actors/transfer-submitter/rules.js'
import type { TransferAnswer } from '../../../bus-schemas/transfers.js'
import type { Hex } from '../../../core/action.js'
import { transfersUnavailable } from '../../../core/entry/transfer-refusals.js'
import type { TransferBody } from '../../../core/entry/validate-transfer.js'
import { tokenUnits6 } from '../../../core/money.js'
import type { RequestCounts } from '../../../data/transfer-store.js'
import { aDepositBody, NOW_MS, places } from '../../support/transfer-bodies.js'
import { refusalIn } from './stage.js'

const PER_MINUTE = 2

function inMemory(): RequestCounts {
  const counted = new Map<string, number[]>()
  return {
    within: (by) => counted.get(by) ?? [],
    count: (by, nowMs) => void counted.set(by, [...(counted.get(by) ?? []), nowMs]),
  }
}

/** What a judge does with a request whose action is good. */
interface Judging {
  readonly preCheck?: () => Promise<void>
  readonly claimed?: Awaited<ReturnType<RecordBook['claim']>>
  readonly givenUp?: CarriedOut
}

const GIVEN_UP: CarriedOut = { kind: 'refused', refusal: transfersUnavailable('deposit') }

function aJudge({
  preCheck = () => Promise.resolve(),
  claimed = 'claimed',
  givenUp = GIVEN_UP,
}: Judging = {}) {
  const validate = ({ action, signature }: TransferBody): SignedTransfer => ({
    action,
    signature: signature as Hex,
    asset: places.cashAsset,
    amount: tokenUnits6(1n),
  })
  const deps = {
    rules: { kind: 'deposit', validate, preCheck },
    verifier: {
      digest: ({ nonce }: { readonly nonce: bigint }) => `0x${nonce}`,
      hasCode: () => Promise.resolve(false),
      verify: () => Promise.resolve({ kind: 'valid', byCode: false }),
    },
    records: { find: () => undefined, claim: () => Promise.resolve(claimed) },
    jobs: { giveUp: () => Promise.resolve(givenUp) },
    limits: createLimits({
      kind: 'deposit',
      perMinute: PER_MINUTE,
      nowMs: () => NOW_MS,
      owners: inMemory(),
      clients: inMemory(),
      store: { othersInProgress: () => false, submittedAfter: () => [] },
    }),
    gas: { read: () => Promise.resolve({}), pauseFor: () => undefined },
    clock: { latestMs: () => NOW_MS, saw: () => undefined },
    reader: { blockTimeSec: () => Promise.resolve(0n) },
    kind: 'deposit',
    domain: {},
    nowMs: () => NOW_MS,
  }
  return createJudge(deps as unknown as JudgeDeps<SignedTransfer>)
}

describe('transfers of an owner that are requested at the same moment', () => {
  it('pass the limit of a minute only as often as one after the other', async () => {
    const judge = aJudge()
    const judged = await Promise.all(
      [1, 2, 3, 4].map((nonce) =>
        judge({
          body: JSON.stringify(aDepositBody({}, { nonce: `${nonce}` })),
          clientAddress: '192.0.2.1',
          isLate: () => false,
          onClaim: () => undefined,
        }),
      ),
    )
    const codes = judged.map((each) => (each.kind === 'refused' ? each.refusal.code : each.kind))
    expect(codes.slice(0, PER_MINUTE)).to.deep.equal(['claimed', 'claimed'])
    expect(new Set(codes.slice(PER_MINUTE))).to.deep.equal(new Set(['too_many_deposit_requests']))
  })

  it('are answered alike when they are one, also the last of the minute while it is judged', async () => {
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const judge = aJudge({ preCheck: () => held })
    const claims: number[] = []
    const ask = (nonce: number) =>
      judge({
        body: JSON.stringify(aDepositBody({}, { nonce: `${nonce}` })),
        clientAddress: '192.0.2.1',
        isLate: () => false,
        onClaim: () => claims.push(nonce),
      })
    const others = Array.from({ length: PER_MINUTE - 1 }, (_, nonce) => ask(nonce + 1))
    const last = ask(PER_MINUTE)
    // Until it is counted, which takes a few turns.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    const again = ask(PER_MINUTE)
    expect(claims).to.deep.equal([])
    goOn()
    await Promise.all(others)
    expect([(await last).kind, (await again).kind]).to.deep.equal(['claimed', 'record'])
    // Each is told of the claim that it waits for, so that none says that nothing was submitted.
    expect(claims.filter((nonce) => nonce === PER_MINUTE)).to.have.length(2)
  })
})

describe('a transfer that is claimed and not carried out', () => {
  const answerOf = async (judging: Judging, isLate = false) => {
    let isClaimed = false
    const judged = await aJudge(judging)({
      body: JSON.stringify(aDepositBody()),
      clientAddress: '192.0.2.1',
      isLate: () => isLate && isClaimed,
      onClaim: () => (isClaimed = true),
    })
    return refusalIn(judged as TransferAnswer).code
  }

  it('is said to be not submitted only when that is in the journal', async () => {
    expect(await answerOf({ claimed: 'unavailable' })).to.equal('deposits_unavailable')
    expect(await answerOf({ claimed: 'unknown' })).to.equal('deposit_unknown')
    expect(await answerOf({}, true)).to.equal('deposits_unavailable')
    for (const kind of ['interrupted', 'sent'] as const)
      expect(await answerOf({ givenUp: { kind } }, true)).to.equal('deposit_unknown')
  })
})
