"""Fabrics as `ibnetdiscover` prints them: fat trees and rail-optimised ones."""
