import { expect } from 'chai'

/** A panel of a dashboard for Grafana, as far as its place goes. */
interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly targets: readonly { readonly refId: string }[]
}

/** Every panel has a place and an id of its own within the 24 columns, and each of its targets a name. */
export function expectNoOverlap(panels: readonly Panel[]): void {
  expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).to.equal(cells.length)
  for (const { title, targets, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).to.be.at.most(24)
    expect(new Set(targets.map(({ refId }) => refId)).size, title).to.equal(targets.length)
  }
}
