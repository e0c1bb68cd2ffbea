import { expect } from 'chai'
import { toFunctionSelector } from 'viem'
import { createPositionsReader } from '../../chain/contracts/positions-reader.js'
import type { Hex } from '../../core/action.js'
import { E18 } from '../../core/money.js'
import type { PositionsBody } from '../../interface/position.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { e18 } from '../support/perpetual.js'
import {
  aScriptedChain,
  type ScriptedAnswer,
  type ScriptedChain,
} from '../support/scripted-chain.js'
import { noAnswer } from '../support/silent-node.js'

const subAccounts = `0x${'5a'.repeat(20)}` as const
const matching = `0x${'ab'.repeat(20)}` as const
const feed = 0xfeedn
const escrow = BigInt(`0x${'c1'.repeat(20)}`)
const perp = aPerp()
const selector = (text: string): Hex => toFunctionSelector(`function ${text}`)

/** What each function answers: 100 USDC and a long of a million at a mark of 0.00065, and no collateral. */
const usual: Readonly<Record<string, ScriptedAnswer>> = {
  'manager(uint256)': [BigInt(perp.marginManagerAddress)],
  'allowedModules(address)': [1n],
  'adjustmentsPaused()': [0n],
  'isDisabled()': [0n],
  'totalPosition(address)': [e18('2000000')],
  'totalPositionCap(address)': [e18('9000000')],
  'openInterest(uint256)': [e18('1000000')],
  'borrowingEnabled()': [0n],
  'liquidation()': [0n],
  'getPerpPrice()': [e18('0.00065'), E18],
  'getIndexPrice()': [e18('0.00065'), E18],
  'getFundingRate()': [0n],
  'stableFeed()': [feed],
  'getSpot()': [E18, E18],
  'assetDetails(address)': [1n, 2n, 1n],
  'perpMarginRequirements(uint256)': [e18('0.065'), e18('0.1')],
  'oracleContingencyParams(uint256)': [0n, 0n, 0n, 0n],
  'depegParams()': [0n, 0n],
  'assetMap(uint256,uint8)': [escrow],
  'whitelistedManager(address)': [1n],
  'baseMarginParams(uint256)': [e18('0.8'), e18('0.9')],
  'getUnsettledAndUnrealizedCash(uint256)': [e18('1.5')],
}
const bySelector = new Map(Object.keys(usual).map((text) => [selector(text), text]))
const BALANCE = selector('getBalance(uint256,address,uint256)')
const MARGIN = selector('getMargin(uint256,bool)')

describe('GET /v1/positions', () => {
  let gateway: GatewayStage
  let chain: ScriptedChain
  let answers: Record<string, ScriptedAnswer>
  /** Milliseconds that an answer may take. */
  let timeoutMs: number
  let elapsedMs: number

  const open = async (markets = [aMarket(), perp, aFuture()]) => {
    const deployment = { matching, subAccounts }
    const positions = createPositionsReader({
      client: chain.client,
      deployment,
      timeoutMs,
      nowMs: Date.now,
      elapsedMs: () => elapsedMs,
    })
    gateway = await aGatewayStage({ markets, positions })
  }
  beforeEach(() => {
    timeoutMs = 60_000
    elapsedMs = 0
    answers = { ...usual }
    chain = aScriptedChain(({ to, data }) => {
      if (data.startsWith(BALANCE)) {
        const asset = `0x${data.slice(98, 138)}`
        if (asset === perp.assetAddress) return [e18('1000000')]
        return asset === perp.quoteAssetAddress ? [e18('100')] : [e18('7')]
      }
      if (data.startsWith(MARGIN)) return data.endsWith('1') ? [e18('36.5')] : [e18('59.25')]
      return answers[bySelector.get(data.slice(0, 10) as Hex) ?? ''] ?? (to === '' ? [] : '0x')
    })
  })
  afterEach(() => gateway.close())

  const ask = (query = '?subaccount_id=7') => gateway.send('GET', `/v1/positions${query}`)
  const body = async (query?: string) => {
    const { status, text } = await ask(query)
    expect(status, text).to.equal(200)
    return JSON.parse(text) as PositionsBody
  }

  it('shows the account and its position, each field as the interface names it (REA-036)', async () => {
    await open()
    const surpluses = { initial_margin_surplus: '36.5', maintenance_margin_surplus: '59.25' }
    const shared = { market: 'cNGN-PERP', subaccount_id: '7', ...surpluses }
    const cost = e18('1000000') * e18('0.0006')
    gateway.readModel.positionEntry = () => ({ size: e18('1000000'), cost })
    expect(await body()).to.deep.equal({
      positions: [
        {
          liquidation_status: 'ok',
          liquidation_distance: '0.09749',
          liquidation_price: '0.000586631395576669',
          ...shared,
          ui_side: 'long',
          engine_position: '1000000',
          ui_size: '1000000',
          ui_notional_usdc: '650',
          mark_price_ui: '0.00065',
          index_price_ui: '0.00065',
          price_status: 'ok',
          unrealized_pnl: '1.5',
          entry_price: '0.0006',
          // 0.00065 - 59.25 / (1000000 x 0.935)
          pnl_since_entry: '50',
          liquidation_price_ui: '0.000586631',
        },
      ],
      accounts: [
        {
          ...shared,
          cash: '100',
          collateral: [
            {
              symbol: perp.presentation.baseAssetSymbol,
              asset_address: `0x${'c1'.repeat(20)}`,
              balance: '7',
              value_usd: '0.00455',
              margin_value_usd: '0.00364',
            },
          ],
        },
      ],
    })
  })

  it('asks every question at the hash of one block (REA-037)', async () => {
    await open()
    await body()
    const { hash } = await chain.head()
    expect(chain.blocks).to.equal(1)
    expect(chain.calls.length).to.be.greaterThan(20)
    for (const { at } of chain.calls) expect(at).to.deep.equal({ blockHash: hash })
  })

  it('shares reads among those who ask at the same time', async () => {
    await open()
    await Promise.all([body(), body()])
    const asked = chain.calls.length
    await body('?subaccount_id=8')
    // The market's facts are known; only the account is read.
    expect(chain.calls.length - asked).to.be.lessThan(10)
    expect(chain.blocks).to.equal(1)
    elapsedMs = 500
    await body('?subaccount_id=8')
    expect(chain.blocks).to.equal(2)
    expect(chain.calls.length - asked).to.be.greaterThan(20)
  })

  it('is empty for an account that is not there or is under another manager (REA-038)', async () => {
    await open()
    for (const manager of [0n, 0xabcn]) {
      answers['manager(uint256)'] = [manager]
      const query = `?subaccount_id=${manager + 100n}`
      expect(await body(query)).to.deep.equal({ positions: [], accounts: [] })
    }
    const largest = (2n ** 256n - 1n).toString()
    expect(await body(`?subaccount_id=${largest}`)).to.deep.equal({ positions: [], accounts: [] })
  })

  it('asks nothing where no listed market has positions', async () => {
    await open([aMarket(), aFuture(), aPerp({ enabled: false })])
    expect(await body()).to.deep.equal({ positions: [], accounts: [] })
    expect(chain.calls).to.deep.equal([])
  })

  it('has a row for each market under the manager of the account', async () => {
    const second = aPerp({ market: 'AAA-PERP', ordinal: 9, assetAddress: `0x${'99'.repeat(20)}` })
    const other = aPerp({
      market: 'BBB-PERP',
      ordinal: 8,
      marginManagerAddress: `0x${'88'.repeat(20)}`,
    })
    await open([perp, second, other])
    const { positions, accounts } = await body()
    expect(accounts.map(({ market }) => market)).to.deep.equal(['AAA-PERP', 'cNGN-PERP'])
    // What the account holds of the other asset is 7.
    expect(positions.map(({ ui_size }) => ui_size)).to.deep.equal(['7', '1000000'])
  })

  it('refuses an account that is not a whole number (REA-036)', async () => {
    await open()
    const wrong = async (query: string) => {
      const { status, json } = await ask(query)
      return [status, json.error, json.code, json.field]
    }
    const field = 'subaccount_id'
    for (const query of ['', '?subaccount_id=', '?account=7'])
      expect(await wrong(query), query).to.deep.equal([
        ...[400, 'subaccount_id is required', 'subaccount_id_required', field],
      ])
    const noNumbers = [
      '-1',
      '1.0',
      'x',
      '0x7',
      '%207',
      '%2B7',
      '1e3',
      '9'.repeat(80),
      '7&subaccount_id=8',
    ]
    for (const value of noNumbers)
      expect(await wrong(`?subaccount_id=${value}`), value).to.deep.equal([
        ...[400, 'subaccount_id must be a non-negative integer', 'invalid_subaccount_id', field],
      ])
    expect(chain.calls).to.deep.equal([])
    expect((await body('?subaccount_id=007')).accounts[0]?.subaccount_id).to.equal('7')
  })

  it('shows sizes and cash while the feeds are stale', async () => {
    for (const text of ['getPerpPrice()', 'getIndexPrice()', 'getFundingRate()'])
      answers[text] = 'revert'
    answers['getUnsettledAndUnrealizedCash(uint256)'] = 'revert'
    const said = chain.answer
    chain.answer = (call) => (call.data.startsWith(MARGIN) ? 'revert' : said(call))
    await open()
    const { positions, accounts } = await body()
    expect(positions[0]).to.include({
      price_status: 'stale',
      mark_price_ui: '',
      unrealized_pnl: '',
    })
    expect(positions[0]).to.include({ engine_position: '1000000', ui_notional_usdc: '' })
    expect(accounts[0]).to.include({ cash: '100', maintenance_margin_surplus: '' })
  })

  describe('when the node', () => {
    const unreadable = async () => {
      const { status, json, headers } = await ask()
      expect([status, json.error, json.code, headers['retry-after']]).to.deep.equal([
        ...[502, 'could not read positions from chain', 'positions_unreadable', '1'],
      ])
    }

    it('is not there (REA-039)', async () => {
      gateway = await aGatewayStage({ markets: [perp] })
      await unreadable()
    })

    it('does not answer in time', async () => {
      timeoutMs = 20
      chain.answer = () => new Promise(() => undefined)
      await open()
      await unreadable()
    })

    it('knows no block', async () => {
      chain.head = () => Promise.reject(noAnswer('connect ECONNREFUSED'))
      await open()
      await unreadable()
    })

    it('fails once in the middle', async () => {
      const said = chain.answer
      chain.answer = (call) =>
        call.data.startsWith(MARGIN) ? Promise.reject(noAnswer('header not found')) : said(call)
      await open()
      await unreadable()
    })

    it('answers what is not a word, not an address, or a revert of a balance', async () => {
      const said = chain.answer
      const lies: readonly [Hex, ScriptedAnswer][] = [
        [BALANCE, '0x'],
        [BALANCE, '0x01'],
        [BALANCE, 'revert'],
        [selector('manager(uint256)'), [2n ** 255n]],
        [selector('perpMarginRequirements(uint256)'), 'revert'],
      ]
      for (const [asked, lie] of lies) {
        chain.answer = (call) => (call.data.startsWith(asked) ? lie : said(call))
        await open()
        await unreadable()
        await gateway.close()
      }
      await open()
    })
  })
})
