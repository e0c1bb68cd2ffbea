// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ISpotFeed} from "../interfaces.sol";
import {SignedFeed} from "./SignedFeed.sol";

/// A signed price. `data` is abi.encode(uint96 price, uint64 confidence), both with 18 decimals.
contract SpotFeed is ISpotFeed, SignedFeed {
    struct SpotDetail {
        uint96 price;
        uint64 confidence;
        uint64 timestamp;
    }

    /// The newest price with its time, fresh or not.
    SpotDetail public spotDetail;

    event SpotPriceUpdated(uint96 spot, uint96 confidence, uint64 timestamp);

    error LSF_InvalidConfidence();

    constructor() SignedFeed("LyraSpotFeed") {}

    /// Price and confidence, both with 18 decimals; reverts with BLF_DataTooOld when the price is older than the heartbeat.
    function getSpot() external view returns (uint256 price, uint256 confidence) {
        SpotDetail memory detail = spotDetail;
        _checkFresh(detail.timestamp);
        return (detail.price, detail.confidence);
    }

    function _accept(bytes memory data, uint64 timestamp) internal override {
        if (timestamp <= spotDetail.timestamp) return;
        (uint96 price, uint64 confidence) = abi.decode(data, (uint96, uint64));
        if (confidence > 1e18) revert LSF_InvalidConfidence();
        spotDetail = SpotDetail(price, confidence, timestamp);
        emit SpotPriceUpdated(price, confidence, timestamp);
    }
}
