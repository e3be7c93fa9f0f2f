# frozen_string_literal: true

require "net/smtp"
require_relative "template"

module Acme
  # Everything that can go wrong.
  class MailError < StandardError; end

  # Sends letters.
  class Mailer < Base
    include Retryable
    extend Forwardable

    RETRIES = 3
    attr_reader :from, :transport

    def initialize(from, transport: Net::SMTP)
      @from = from
      @transport = transport
    end

    # Send one letter to many people. Addresses that are refused by the server are collected and raised
    # together at the end, so that one bad address does not keep the others from their letter.
    def deliver(template, *people, **values)
      refused = []
      people.each do |person|
        body = Template.new(template).render(values.merge(name: person.name))
        retrying(RETRIES) { transport.start("localhost") { |smtp| smtp.send_message(body, from, person.address) } }
      rescue Net::SMTPFatalError => error
        refused << [person.address, error.message]
        logger.warn("refused by the server: #{person.address}")
      end
      raise MailError, refused.inspect unless refused.empty?
    end

    def self.default
      @default ||= new("noreply@example.org")
    end

    class << self
      def configure
        yield default
      end
    end

    def ready? = !transport.nil?

    private

    def logger
      @logger ||= Logger.new($stderr)
    end
  end
end

RSpec.describe Acme::Mailer do
  it "sends" do
    expect(described_class.default).to be_ready
  end
end

task :deliver do
  Acme::Mailer.default.deliver(:news)
end
