// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Numbers with 18 decimals. Products and quotients are truncated toward zero, unless the name says otherwise.
library FixedPoint {
    uint256 internal constant ONE = 1e18;

    function mul(uint256 a, uint256 b) internal pure returns (uint256) {
        return (a * b) / ONE;
    }

    function mul(int256 a, int256 b) internal pure returns (int256) {
        return (a * b) / int256(ONE);
    }

    function div(uint256 a, uint256 b) internal pure returns (uint256) {
        return (a * ONE) / b;
    }

    function div(int256 a, int256 b) internal pure returns (int256) {
        return (a * int256(ONE)) / b;
    }

    /// The quotient rounded to the nearest, halves away from zero; `b` must be positive.
    function divRound(int256 a, int256 b) internal pure returns (int256) {
        int256 scaled = a * int256(ONE);
        return (scaled < 0 ? scaled - b / 2 : scaled + b / 2) / b;
    }
}
