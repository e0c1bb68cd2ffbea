// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// The time-weighted average of the index over the hour before expiry. Each sample holds until the next one; the last
/// sample before the hour opens it.
library IndexFixing {
    uint256 internal constant WINDOW = 1 hours;
    /// The longest time that one sample may stand for.
    uint256 internal constant MAX_GAP = 300;

    struct Fixing {
        /// Time of the newest sample, as its feed states it; 0 before the first.
        uint64 lastAt;
        /// Longest time inside the window without a new sample, up to the newest one.
        uint64 largestGap;
        /// Seconds of the window that samples up to the newest one cover.
        uint64 covered;
        uint256 lastPrice;
        /// Sum of price times seconds over the covered part.
        uint256 priceSeconds;
    }

    error FA_SampleNotNewer();
    error FA_SampleTooLate();

    /// Adds a sample. It must be newer than the last one and not after expiry.
    function record(Fixing storage self, uint256 expiry, uint256 price, uint64 at) internal {
        if (at > expiry) revert FA_SampleTooLate();
        if (at <= self.lastAt) revert FA_SampleNotNewer();
        Fixing memory next = _extendedTo(self, expiry, at);
        self.largestGap = next.largestGap;
        self.covered = next.covered;
        self.priceSeconds = next.priceSeconds;
        self.lastPrice = price;
        self.lastAt = at;
    }

    /// The fixing as it is if no further sample comes, and whether every part of the hour has a sample near enough.
    function atExpiry(Fixing storage self, uint256 expiry)
        internal
        view
        returns (Fixing memory fixing, bool isComplete)
    {
        fixing = _extendedTo(self, expiry, expiry);
        isComplete = fixing.covered > 0 && fixing.largestGap <= MAX_GAP;
    }

    /// The newest sample stands until `to`. A sample of more than MAX_GAP before the window is too old to open it.
    function _extendedTo(Fixing storage self, uint256 expiry, uint256 to) private view returns (Fixing memory next) {
        next = self;
        uint256 start = expiry - WINDOW;
        if (to <= start) return next;
        uint256 from = next.lastAt > start ? next.lastAt : start;
        if (next.lastAt + MAX_GAP >= start) {
            next.priceSeconds += next.lastPrice * (to - from);
            next.covered += uint64(to - from);
        }
        if (to - from > next.largestGap) next.largestGap = uint64(to - from);
    }
}
