{-# LANGUAGE LambdaCase #-}

-- | Small parsers that become large ones.
module Text.Parser
  ( Parser (..)
  , many1
  ) where

import Control.Applicative (Alternative (..))
import qualified Data.Map.Strict as Map

-- | Reads a value from the front of a text.
newtype Parser a = Parser
  { runParser :: String -> Maybe (a, String)
  }

data Token
  = Number Int
  | Word String
  deriving (Eq, Show)

type Table = Map.Map String Token

class Pretty a where
  pretty :: a -> String
  pretty _ = "?"

instance Functor Parser where
  fmap f (Parser run) = Parser $ \text -> case run text of
    Nothing -> Nothing
    Just (value, rest) -> Just (f value, rest)

instance Pretty Token where
  pretty (Number n) = show n
  pretty (Word w) = w

-- | One or more.
many1 :: Parser a -> Parser [a]
many1 parser = (:) <$> parser <*> many parser

-- | How often does each word occur?
count :: [Token] -> Map.Map String Int
count [] = Map.empty
count (Word w : rest) = Map.insertWith (+) w 1 (count rest)
count (_ : rest) = count rest

limit :: Int
limit = 10

digits :: Parser String
digits = go
  where
    go = many1 (satisfy isDigit)
    isDigit c = c >= '0' && c <= '9'

infixl 4 <+>
(<+>) :: Parser a -> Parser a -> Parser a
one <+> other = one <|> other
