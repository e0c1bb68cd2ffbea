import type { Address } from '../../core/action.js'
import type { Stage } from './adversary.js'
import type { Trick } from './chain-trouble.js'
import { DELEGATES, LIAR, NO_DELEGATE, signAuthorization, type Authorization } from './delegates.js'
import type { Random } from './random.js'

const OTHER_CHAIN = 1
const ELSEWHERE = 7

/** The keys of one attacker, who may be on both sides of a match: the last two traders. */
export function delegationTrouble({ chain, traders, network }: Stage, random: Random): Trick[] {
  const attackers = traders.traders
    .slice(-2)
    .flatMap(({ owner, key }) => (key === undefined ? [] : [{ owner, key }]))
  const wallets = Object.keys(DELEGATES) as Address[]

  /** One after the other of a key, from its nonce on the chain or from one with which they have no effect. */
  const signed = (
    who: (typeof attackers)[number],
    targets: readonly Address[],
  ): Authorization[] => {
    const first = chain.head().state.nonces.get(who.owner) ?? 0
    const nonceOff = random.chance(0.15) ? ELSEWHERE : 0
    const chainId = random.chance(0.1) ? OTHER_CHAIN : undefined
    return targets.map((address, i) =>
      signAuthorization(who, {
        address,
        nonce: first + i + nonceOff,
        ...(chainId !== undefined && { chainId }),
      }),
    )
  }

  /** Around what is about to be mined, in the same block. */
  function delegate(): void {
    const both = random.chance(0.3)
    for (const who of both ? attackers : [random.pick(attackers)]) {
      const wallet = random.chance(0.3) ? LIAR : random.pick(wallets)
      const [there, back] = signed(who, [wallet, NO_DELEGATE])
      if (there === undefined || back === undefined) continue
      network.world.note(`${who.owner} delegates to ${wallet}`)
      chain.delegate({ authorizations: [there], place: random.chance(0.8) ? 'first' : 'last' })
      if (random.chance(0.8)) chain.delegate({ authorizations: [back], place: 'last' })
      else network.world.after(network.wire, random.int(8_000), () => undelegate(who))
    }
  }

  function undelegate(who: (typeof attackers)[number]): void {
    const nonce = chain.head().state.nonces.get(who.owner) ?? 0
    const authorizations = [signAuthorization(who, { address: NO_DELEGATE, nonce })]
    chain.delegate({ authorizations, place: random.chance(0.5) ? 'first' : 'last' })
  }

  function play(): void {
    chain.setAmbush(delegate)
    network.world.after(network.wire, 10_000 + random.int(60_000), () => chain.setAmbush(undefined))
  }

  return [{ weight: 10, play }]
}
