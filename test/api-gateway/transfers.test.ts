import { expect } from 'chai'
import { mayBeSentAgain } from '../../core/entry/sent-again.js'
import {
  allowanceTooLow,
  chainUnreadable,
  notTransferOwner,
  tooManyDepositsAnHour,
  transferNotFound,
  transferRefusals,
  transfersPaused,
  wouldRevert,
  type TransferRefusal,
} from '../../core/entry/transfer-refusals.js'
import { tokenUnits6 } from '../../core/money.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import {
  aDepositBody,
  anUnsentTransfer,
  aTransfer,
  aWithdrawalBody,
  places,
} from '../support/transfer-bodies.js'
import { aScriptedSubmitter, type ScriptedSubmitter } from './stage/submitters.js'

const HASH = `0x${'ac'.repeat(32)}`
const TX_HASH = `0x${'77'.repeat(32)}` as const

/** What differs between the two kinds at the routes. */
const kinds = {
  deposit: { path: '/v1/deposits', body: aDepositBody(), fields: {} },
  withdrawal: {
    path: '/v1/withdrawals',
    body: aWithdrawalBody(),
    fields: {
      asset: places.wrappedUsdc,
      subaccountIdRequested: 9n,
      subaccountId: 9n,
      amount: tokenUnits6(4_000_000n),
    },
  },
} as const

/** A bus whose questions can be made to time out at once. */
function impatientBus(): MemoryBus & { patience: boolean } {
  const setTimer = (ms: number, callback: () => void) => {
    const timer = setTimeout(callback, bus.patience ? ms : 20)
    return () => clearTimeout(timer)
  }
  const bus = Object.assign(createMemoryBus({ setTimer }), { patience: true })
  return bus
}

for (const kind of ['deposit', 'withdrawal'] as const) {
  const { path, body, fields } = kinds[kind]

  describe(`${kind} routes of the gateway`, () => {
    let gateway: GatewayStage
    let submitter: ScriptedSubmitter
    let bus: MemoryBus & { patience: boolean }

    beforeEach(async () => {
      bus = impatientBus()
      gateway = await aGatewayStage({ bus })
      submitter = await aScriptedSubmitter(bus, kind)
    })
    afterEach(() => gateway.close())

    const withRecord = (record: TransferRecord): void => {
      submitter.answer = { kind: 'record', record }
    }
    const withRefusal = (refusal: TransferRefusal): void => {
      submitter.answer = { kind: 'refused', refusal }
    }
    const sent = (changes: Partial<TransferRecord> = {}): TransferRecord =>
      aTransfer({ kind, ...fields, ...changes })
    const unsent = (changes: Partial<TransferRecord> = {}): TransferRecord =>
      anUnsentTransfer({ kind, ...fields, ...changes })
    const post = () => gateway.send('POST', path, { body, judged: true })
    const lookUp = (hash = HASH) => gateway.send('GET', `${path}/${hash}`)

    it('passes the body on as it came, with the address of the client', async () => {
      withRecord(sent())
      const text = '{ "action" : {"nonce":"1"},"more":[] }'
      const answer = await gateway.send('POST', path, { body: text })
      const request_id = answer.headers['x-request-id']
      expect(submitter.requests).to.deep.equal([
        { request_id, client_address: '127.0.0.1', body: text },
      ])
    })

    it('answers the receipt of what is confirmed (TRA-009)', async () => {
      withRecord(sent())
      const { status, json } = await post()
      expect(status).to.equal(200)
      expect(json).to.include({
        action_hash: HASH,
        status: 'confirmed',
        accepted: true,
        tx_hash: TX_HASH,
        receipt_status: 'success',
        block_number: '31',
      })
    })

    it('answers the receipt of what is broadcast, and of what reverted (TRA-009)', async () => {
      withRecord(unsent({ status: 'submitted', txHash: TX_HASH }))
      const submitted = await post()
      expect(submitted.status).to.equal(200)
      expect(submitted.json).to.include({ accepted: true, receipt_status: 'timeout' })
      expect(submitted.json).not.to.have.property('block_number')
      withRecord(sent({ status: 'reverted', revert: 'BM_NonceAlreadyUsed' }))
      const reverted = await post()
      expect(reverted.status).to.equal(200)
      expect(reverted.json).to.include({
        accepted: false,
        receipt_status: 'reverted',
        revert: 'BM_NonceAlreadyUsed',
      })
    })

    it('answers 202 with the record while it is being submitted (TRA-009)', async () => {
      withRecord(unsent())
      const { status, json } = await post()
      expect(status).to.equal(202)
      expect(json).to.include({ action_hash: HASH, status: 'pending', owner: places.owner })
    })

    it('answers 502 with the hash to look up when it is not known whether it was submitted (TRA-009)', async () => {
      withRecord(unsent({ status: 'unknown', txHash: TX_HASH }))
      const { status, json } = await post()
      expect(status).to.equal(502)
      expect(json).to.include({ code: `${kind}_unknown`, action_hash: HASH, tx_hash: TX_HASH })
      expect(json.error).to.match(
        /^could not confirm whether the (deposit|withdrawal) was submitted/,
      )
    })

    const refusals: readonly TransferRefusal[] = [
      transferRefusals.actionExpired,
      { ...transferRefusals.signature, detail: { digest: HASH, recovered: null } },
      wouldRevert(kind, 'WERC_CannotBeNegative'),
      tooManyDepositsAnHour(6, 900),
      transfersPaused(kind, 'gas_budget'),
      chainUnreadable(kind),
      ...(kind === 'withdrawal'
        ? [notTransferOwner(kind, 9n)]
        : [{ ...allowanceTooLow(tokenUnits6(0n), tokenUnits6(1n)), revert: 'ERC20Short' }]),
    ]
    for (const refusal of refusals) {
      it(`answers ${refusal.status} ${refusal.code} as the submitter says it`, async () => {
        withRefusal(refusal)
        const { status, json, headers } = await post()
        expect(status).to.equal(refusal.status)
        expect(json).to.include({ error: refusal.message, code: refusal.code })
        expect(json.revert).to.equal(refusal.revert)
        const again = mayBeSentAgain(refusal) ? 1 : refusal.retryAfterSec
        expect(headers['retry-after']).to.equal(again?.toString())
      })
    }

    it('answers 502 when the submitter stays silent or none runs (TRA-021)', async () => {
      bus.patience = false
      expect((await post()).status).to.equal(502)
      const alone = await aGatewayStage()
      const { status, json, headers } = await alone.send('POST', path, { body })
      await alone.close()
      expect([status, json.code]).to.deep.equal([502, `${kind}_unknown`])
      expect(headers['retry-after']).to.equal('1')
    })

    it('answers 503 and sends nothing while the bus is away (TRA-021)', async () => {
      withRecord(sent())
      bus.setConnected(false)
      const { status, json } = await post()
      expect([status, json.code]).to.deep.equal([503, `${kind}s_unavailable`])
      bus.setConnected(true)
      expect(submitter.requests).to.deep.equal([])
    })

    it('refuses what is not a JSON object, unasked (TRA-001)', async () => {
      for (const wrong of ['', '[]', '{"action":']) {
        const { status, json } = await gateway.send('POST', path, { body: wrong })
        expect([status, json.error]).to.deep.equal([400, 'invalid JSON body'])
      }
      const large = await gateway.send('POST', path, { body: `{"a":"${'x'.repeat(70_000)}"}` })
      expect(large.status).to.equal(413)
      expect(submitter.requests).to.deep.equal([])
    })

    it('looks records up wherever they stand, by the hash in either case (TRA-008, TRA-012)', async () => {
      const statuses = [
        'pending',
        'submitted',
        'confirmed',
        'reverted',
        'rejected',
        'unknown',
      ] as const
      for (const status of statuses) {
        withRecord(unsent({ status, error: 'why', revert: 'Name' }))
        const answer = await lookUp(HASH.toUpperCase().replace('X', 'x'))
        expect(answer.status).to.equal(200)
        expect(answer.json).to.include({ action_hash: HASH, status, error: 'why', revert: 'Name' })
      }
      withRecord(sent(kind === 'deposit' ? { permitTxHash: TX_HASH } : {}))
      expect((await lookUp()).json).to.include({ block_number: '31', nonce: '77' })
      expect(submitter.lookups.map(({ action_hash }) => action_hash)).to.deep.equal(
        Array.from({ length: 7 }, () => HASH),
      )
    })

    it('answers 404 for a hash that is unknown and 400 for what is none (TRA-006)', async () => {
      withRefusal(transferNotFound(kind))
      const unknown = await lookUp()
      expect([unknown.status, unknown.json.error]).to.deep.equal([
        404,
        `no ${kind} with this action_hash`,
      ])
      for (const wrong of ['0x12', HASH.slice(2), `${HASH}00`, `${HASH.slice(0, -1)}g`, 'x%00']) {
        const { status, json } = await lookUp(wrong)
        expect([wrong, status]).to.deep.equal([wrong, 400])
        expect(json.error).to.equal('action_hash must be 0x followed by 64 hex digits')
      }
      expect(submitter.lookups).to.have.length(1)
    })

    it('answers 503 when the record cannot be read', async () => {
      bus.patience = false
      const silent = await lookUp()
      expect([silent.status, silent.json.code]).to.deep.equal([503, `${kind}_record_unreadable`])
      bus.setConnected(false)
      expect((await lookUp()).status).to.equal(503)
    })

    it('answers a record that was rejected meanwhile as the refusal that it is', async () => {
      withRecord(unsent({ status: 'rejected', error: 'action has expired' }))
      const expired = await post()
      expect([expired.status, expired.json.code]).to.deep.equal([503, `${kind}_rejected`])
      expect(expired.json.error).to.match(
        /was rejected before anything was sent: action has expired$/,
      )
      withRecord(unsent({ status: 'rejected', error: 'why', revert: 'BM_AdjustmentsPaused' }))
      const reverted = await post()
      expect([reverted.status, reverted.json.revert]).to.deep.equal([422, 'BM_AdjustmentsPaused'])
    })
  })
}

describe('gas in GET /v1/health', () => {
  const standing = {
    signer: places.unrelated,
    balanceWei: 10n ** 18n,
    reserveWei: 5n,
    hourBudgetWei: 7n,
    hourSpentWei: 0n,
  }
  const stage = async (kind: TransferKind) => {
    const bus = createMemoryBus()
    const gateway = await aGatewayStage({ bus })
    return { gateway, submitter: await aScriptedSubmitter(bus, kind) }
  }

  it('shows what the submitters say, and that one is silent', async () => {
    const { gateway, submitter } = await stage('deposit')
    submitter.gas = standing
    const { status, json } = await gateway.send('GET', '/v1/health')
    await gateway.close()
    expect(status).to.equal(200)
    expect(json.deposits).to.deep.equal({
      status: 'open',
      gas: {
        signer: places.unrelated,
        balance_wei: '1000000000000000000',
        reserve_wei: '5',
        hour_budget_wei: '7',
        hour_spent_wei: '0',
      },
    })
    expect(json.withdrawals).to.deep.equal({ status: 'unavailable' })
  })

  it('does not call open what cannot read the chain', async () => {
    const { gateway, submitter } = await stage('deposit')
    const { balanceWei, ...unread } = standing
    void balanceWei
    submitter.gas = unread
    const { json } = await gateway.send('GET', '/v1/health')
    await gateway.close()
    expect(json.deposits).to.deep.include({ status: 'unavailable' })
    expect(json.deposits).to.have.nested.property('gas.reserve_wei', '5')
  })

  it('says why nothing is taken', async () => {
    const { gateway, submitter } = await stage('withdrawal')
    const { balanceWei, ...unread } = standing
    void balanceWei
    submitter.gas = { ...unread, paused: 'gas_reserve' }
    const { json } = await gateway.send('GET', '/v1/health')
    await gateway.close()
    expect(json.withdrawals).to.deep.include({ status: 'paused', paused: 'gas_reserve' })
    expect(json.withdrawals).not.to.have.nested.property('gas.balance_wei')
  })
})
