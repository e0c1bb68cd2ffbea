// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {ISpotDiffFeed, ISpotFeed} from "../interfaces.sol";
import {SignedFeed} from "./SignedFeed.sol";

/// A signed difference to a spot price. `data` is abi.encode(int96 diff, uint64 confidence), both with 18 decimals.
contract SpotDiffFeed is ISpotDiffFeed, SignedFeed {
    using FixedPoint for uint256;
    using SafeCast for int256;
    using SafeCast for uint256;

    struct SpotDiffDetail {
        int96 spotDiff;
        uint64 confidence;
        uint64 timestamp;
    }

    ISpotFeed public spotFeed;
    /// Largest difference that counts, as a fraction of the spot price.
    uint256 public spotDiffCap = 0.1e18;
    SpotDiffDetail public spotDiffDetails;

    event SpotFeedUpdated(ISpotFeed spotFeed);
    event SpotDiffUpdated(int96 spotDiff, uint96 confidence, uint64 timestamp);

    error LSDF_InvalidConfidence();

    constructor(ISpotFeed spotFeed_) SignedFeed("LyraSpotDiffFeed") {
        spotFeed = spotFeed_;
    }

    function setSpotFeed(ISpotFeed spotFeed_) external onlyOwner {
        spotFeed = spotFeed_;
        emit SpotFeedUpdated(spotFeed_);
    }

    function setSpotDiffCap(uint256 spotDiffCap_) external onlyOwner {
        spotDiffCap = spotDiffCap_;
    }

    /// Spot and difference, and the smaller of their confidences.
    function getResult() external view returns (uint256 price, uint256 confidence) {
        (uint256 spot, uint256 spotConfidence) = spotFeed.getSpot();
        SpotDiffDetail memory detail = spotDiffDetails;
        _checkFresh(detail.timestamp);
        int256 limit = spot.mul(spotDiffCap).toInt256();
        int256 diff = SignedMath.max(-limit, SignedMath.min(limit, detail.spotDiff));
        return ((spot.toInt256() + diff).toUint256(), Math.min(spotConfidence, detail.confidence));
    }

    function _accept(bytes memory data, uint64 timestamp) internal override {
        if (timestamp <= spotDiffDetails.timestamp) return;
        (int96 spotDiff, uint64 confidence) = abi.decode(data, (int96, uint64));
        if (confidence > 1e18) revert LSDF_InvalidConfidence();
        spotDiffDetails = SpotDiffDetail(spotDiff, confidence, timestamp);
        emit SpotDiffUpdated(spotDiff, confidence, timestamp);
    }
}
