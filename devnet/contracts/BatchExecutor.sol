// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// Executes many matches in one transaction, each in a call of its own, so that a revert undoes only its own match.
/// Matching must list this contract as a trade executor.
contract BatchExecutor is Ownable {
    enum Outcome {
        Success,
        Reverted,
        /// The match had all of its gas, and ran out of it.
        OutOfGas,
        /// The transaction had less gas left than the match requires; nothing was called.
        NotTried
    }

    struct Match {
        /// Gas of the call. The call gets all of it or is not tried.
        uint256 gasLimit;
        /// Calldata of Matching.verifyAndMatch.
        bytes call;
    }

    struct Result {
        Outcome outcome;
        uint256 gasUsed;
        bytes revertData;
    }

    /// Longer revert data is truncated, so that a called contract cannot make the batch pay for copying it.
    uint256 public constant MAX_REVERT_DATA = 256;
    bytes4 private constant MATCH_SELECTOR = bytes4(
        keccak256(
            "verifyAndMatch((uint256,uint256,address,bytes,uint256,address,address)[],bytes[],bytes)"
        )
    );
    /// Covers the call itself, its event and its share of the result.
    uint256 private constant AFTER_CALL_GAS = 20_000;
    /// Covers the hash, event and result of a match that is not tried, with calldata of ten kilobytes.
    uint256 private constant NOT_TRIED_GAS = 8_000;

    address public immutable matching;
    mapping(address operator => bool) public operators;

    event OperatorSet(address indexed operator, bool allowed);
    /// One for each match, in their order; `key` is keccak256(matching, call).
    event MatchTried(bytes32 indexed key, Outcome outcome, uint256 gasUsed, bytes revertData);

    error BE_NotAMatch();
    error BE_OnlyOperator();

    constructor(address matching_) Ownable(msg.sender) {
        matching = matching_;
    }

    function setOperator(address operator, bool allowed) external onlyOwner {
        operators[operator] = allowed;
        emit OperatorSet(operator, allowed);
    }

    /// Executes the matches in order. After the first one without enough gas the rest is not tried either, so that no
    /// match overtakes another.
    function tryAll(Match[] calldata matches) external returns (Result[] memory results) {
        if (!operators[msg.sender]) revert BE_OnlyOperator();
        results = new Result[](matches.length);
        bool starved = false;
        for (uint256 i = 0; i < matches.length; i++) {
            if (bytes4(matches[i].call) != MATCH_SELECTOR) revert BE_NotAMatch();
            bytes32 key;
            (key, results[i]) = _try(matches[i], (matches.length - i) * NOT_TRIED_GAS, starved);
            starved = results[i].outcome == Outcome.NotTried;
            emit MatchTried(key, results[i].outcome, results[i].gasUsed, results[i].revertData);
        }
    }

    function _try(Match calldata item, uint256 reserve, bool starved)
        private
        returns (bytes32 key, Result memory result)
    {
        bytes calldata data = item.call;
        uint256 gasLimit = item.gasLimit;
        address target = matching;
        uint256 at;
        // Uses free memory without moving the free memory pointer, so that the next match reuses it.
        assembly ("memory-safe") {
            at := mload(0x40)
            mstore(at, shl(96, target))
            calldatacopy(add(at, 20), data.offset, data.length)
            key := keccak256(at, add(data.length, 20))
        }
        if (starved || !_canGive(gasLimit, reserve + AFTER_CALL_GAS)) {
            result.outcome = Outcome.NotTried;
            return (key, result);
        }

        bool success;
        uint256 gasBefore = gasleft();
        assembly ("memory-safe") {
            success := call(gasLimit, target, 0, add(at, 20), data.length, 0, 0)
        }
        result.gasUsed = gasBefore - gasleft();
        if (success) return (key, result);
        result.revertData = _revertData();
        result.outcome = _ranOut(result, gasLimit) ? Outcome.OutOfGas : Outcome.Reverted;
    }

    /// The EVM silently reduces the gas of a call to 63/64 of what is left.
    function _canGive(uint256 gasLimit, uint256 reserve) private view returns (bool) {
        uint256 left = gasleft();
        if (left < reserve) return false;
        return left - reserve - (left - reserve) / 64 >= gasLimit;
    }

    /// A call that ran out of gas at a deeper level leaves 1/64 at each level above it, and returns no data.
    function _ranOut(Result memory result, uint256 gasLimit) private pure returns (bool) {
        return result.revertData.length == 0 && result.gasUsed >= gasLimit - gasLimit / 8;
    }

    function _revertData() private pure returns (bytes memory data) {
        uint256 size;
        assembly ("memory-safe") {
            size := returndatasize()
        }
        if (size > MAX_REVERT_DATA) size = MAX_REVERT_DATA;
        data = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(data, 32), 0, size)
        }
    }
}
