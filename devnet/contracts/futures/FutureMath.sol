// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CONTRACT_MULTIPLIER, ONE, POSITION_STEP} from "./interfaces.sol";

/// The arithmetic of futures that others have to repeat to the last unit. Every division states its rounding.
library FutureMath {
    using SafeCast for int256;
    using SafeCast for uint256;

    uint256 internal constant WIDE = 0.1e18;
    uint256 internal constant NARROW = 0.01e18;
    /// The band narrows from WIDE to NARROW over this time before expiry.
    uint256 internal constant NARROWING = 14 days;

    /// Half the width of the band as a fraction of the index, `left` seconds before expiry; rounded down.
    function bandWidth(uint256 left) internal pure returns (uint256) {
        if (left >= NARROWING) return WIDE;
        return NARROW + ((WIDE - NARROW) * left) / NARROWING;
    }

    /// The allowed prices around an index, bounds included. Rounded inwards: low up, high down.
    function bandAround(uint256 index, uint256 width) internal pure returns (uint256 low, uint256 high) {
        low = Math.mulDiv(index, ONE - width, ONE, Math.Rounding.Ceil);
        high = Math.mulDiv(index, ONE + width, ONE);
    }

    /// Variation margin in cNGN of a position, positive for a long, when its price moves; exact, for positions are
    /// whole steps.
    function variation(int256 position, uint256 from, uint256 to) internal pure returns (int256) {
        return (position / int256(POSITION_STEP)) * (to.toInt256() - from.toInt256());
    }

    /// What an amount of cNGN, which may be owed, counts as margin in USD. An asset counts with the factor and rounds
    /// down twice, a debt counts divided by it and rounds up twice: always against the account.
    function cngnValue(int256 cngn, uint256 index, uint256 factor) internal pure returns (int256) {
        uint256 size = SignedMath.abs(cngn);
        if (cngn >= 0) return Math.mulDiv(Math.mulDiv(size, ONE, index), factor, ONE).toInt256();
        uint256 usd = Math.mulDiv(size, ONE, index, Math.Rounding.Ceil);
        return -Math.mulDiv(usd, ONE, factor, Math.Rounding.Ceil).toInt256();
    }

    /// Margin in USD that positions of this size, in contracts, require; rounded up.
    function requirement(uint256 size, uint256 rate) internal pure returns (uint256) {
        return Math.mulDiv(size * CONTRACT_MULTIPLIER, rate, ONE, Math.Rounding.Ceil);
    }
}
