// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A wallet that one key speaks for, until it is locked.
contract KeyWallet {
    address public immutable key;
    bool public locked;

    constructor(address key_) {
        key = key_;
    }

    function lock() external {
        locked = true;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecover(hash, signature);
        return recovered == key && !locked ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// Code for a plain key to delegate to: the key goes on to speak for its own address.
contract SelfKeyWallet {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecover(hash, signature);
        return recovered == address(this) ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// Code without the method, as many delegates are.
contract DeafWallet {
    function ping() external pure returns (uint256) {
        return 1;
    }
}

contract RevertingWallet {
    error NoComment(string reason);

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert NoComment(new string(1000));
    }
}

/// The right four bytes with something behind them, which is not the word that the chain compares with.
contract JunkWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes32) {
        return bytes32(bytes4(0x1626ba7e)) | bytes32(uint256(1));
    }
}

/// Answers a megabyte, or as much of it as its gas allows to be asked for.
contract ShoutingWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 size = gasleft() > 5_000_000 ? 1 << 20 : 400_000;
        assembly {
            return(0, size)
        }
    }
}

contract BurningWallet {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 n;
        while (gasleft() > 0) n = uint256(keccak256(abi.encode(n)));
        return bytes4(0x1626ba7e);
    }
}
