import { expect } from 'chai'
import {
  compareRead,
  holdLiquidations,
  type HeldLiquidations,
  type Liquidation,
} from '../../../core/contracts/liquidation.js'
import { aLiquidation } from '../../support/liquidations.js'

const NO_DOUBTS: ReadonlySet<string> = new Set()

describe('what is held of liquidations', () => {
  const numbersOf = (all: readonly Liquidation[]) =>
    all.map(({ blockNumber }) => Number(blockNumber))
  const holding = (most: number, ...blocks: readonly number[]): HeldLiquidations => {
    const held = holdLiquidations(most)
    held.apply({ takenBack: [], added: blocks.map((block) => aLiquidation({ block })) })
    return held
  }

  it('is the newest of the chain, in whichever order they were told', () => {
    const held = holding(3, 12, 10, 14)
    expect(numbersOf(held.newest(10))).to.deep.equal([14, 12, 10])
    expect(numbersOf(held.newest(2))).to.deep.equal([14, 12])
    held.apply({ takenBack: [], added: [aLiquidation({ block: 13 })] })
    expect(numbersOf(held.newest(10))).to.deep.equal([14, 13, 12])
    expect(numbersOf(held.since(13n))).to.have.members([13, 14])
  })

  it('orders the events of a block by their place in it', () => {
    const held = holdLiquidations(10)
    const added = [7, 2, 5].map((logIndex) => ({ ...aLiquidation({ block: 4 }), logIndex }))
    held.apply({ takenBack: [], added })
    expect(held.newest(10).map(({ logIndex }) => logIndex)).to.deep.equal([7, 5, 2])
  })

  it('is the same when news are repeated, and gives back what they take back, once', () => {
    const held = holding(10, 1, 2)
    const lost = aLiquidation({ block: 2 })
    held.apply({ takenBack: [], added: [lost] })
    expect(numbersOf(held.newest(10))).to.deep.equal([2, 1])
    expect(held.apply({ takenBack: [lost], added: [] })).to.deep.equal([lost])
    expect(held.apply({ takenBack: [lost], added: [] })).to.deep.equal([])
    expect(numbersOf(held.newest(10))).to.deep.equal([1])
  })

  it('tells an event of one market from the same event of another', () => {
    const held = holding(10, 1)
    const other = { ...aLiquidation({ block: 1 }), market: 'OTHER-PERP' }
    held.apply({ takenBack: [], added: [other] })
    expect(held.newest(10)).to.have.length(2)
    expect(held.apply({ takenBack: [other], added: [] })).to.deep.equal([other])
    expect(held.newest(10)).to.have.length(1)
  })
})

describe('what a read of blocks changes in it', () => {
  const market = aLiquidation({ block: 1 }).market
  const read = (
    held: HeldLiquidations,
    {
      found,
      first = 5n,
      last,
      doubted = NO_DOUBTS,
      markets = new Set([market]),
    }: {
      readonly found: readonly Liquidation[]
      readonly first?: bigint
      readonly last?: bigint
      readonly doubted?: ReadonlySet<string>
      readonly markets?: ReadonlySet<string>
    },
  ) => compareRead(held, { markets, first, last, found }, doubted)
  const held = (...blocks: readonly number[]): HeldLiquidations => {
    const all = holdLiquidations(100)
    all.apply({ takenBack: [], added: blocks.map((block) => aLiquidation({ block })) })
    return all
  }
  const placeOf = ({ market: name, blockHash, logIndex }: Liquidation) => ({
    market: name,
    blockHash,
    logIndex,
  })

  it('adds what is new, in the order of the chain, and nothing twice', () => {
    const [old, first, second] = [5, 6, 7].map((block) => aLiquidation({ block }))
    const found = [second, old, first].flatMap((one) => one ?? [])
    const news = read(held(5), { found })
    expect(news.added).to.deep.equal([first, second])
    expect(news.takenBack).to.deep.equal([])
  })

  it('takes back what two reads in succession do not show, not what one does not', () => {
    const all = held(5, 9)
    const stays = aLiquidation({ block: 5 })
    const once = read(all, { found: [stays] })
    expect(once.takenBack).to.deep.equal([])
    expect([...once.doubts]).to.have.length(1)
    // Shown again in between: the node had lagged.
    const shown = read(all, { found: [stays, aLiquidation({ block: 9 })], doubted: once.doubts })
    expect([...shown.doubts]).to.deep.equal([])
    const twice = read(all, { found: [stays], doubted: once.doubts })
    expect(twice.takenBack).to.deep.equal([placeOf(aLiquidation({ block: 9 }))])
    expect([...twice.doubts]).to.deep.equal([])
  })

  it('replaces an event that is in another block now', () => {
    const again = { ...aLiquidation({ block: 9 }), blockHash: `0x${'9'.repeat(64)}` as const }
    const first = read(held(9), { found: [again] })
    expect(first.added).to.deep.equal([again])
    const second = read(held(9), { found: [again], doubted: first.doubts })
    expect(second.takenBack).to.deep.equal([placeOf(aLiquidation({ block: 9 }))])
  })

  it('judges the blocks that were read alone, and up to the head what stands beyond it too', () => {
    const all = held(4, 6, 20)
    const doubted = new Set([...read(all, { found: [] }).doubts])
    expect(doubted).to.have.length(2)
    const within = read(all, { found: [], last: 10n, doubted })
    expect(within.takenBack).to.deep.equal([placeOf(aLiquidation({ block: 6 }))])
    const toHead = read(all, { found: [], doubted })
    expect(toHead.takenBack).to.have.length(2)
  })

  it('judges the markets that were read alone', () => {
    const markets = new Set(['OTHER-PERP'])
    expect(read(held(6), { found: [], markets }).doubts).to.have.length(0)
  })
})
